"""Certificates and forgeries by the thousand, for differential fuzzing of their readers."""

import json
import random
import re
from fractions import Fraction

import numpy as np

from pmlbook.release.certificate import Certificate, exp_below
from pmlbook.release.sampling import UNITS


def certificate(rng):
    """A random certificate at, just above or just below its own level, with names of all kinds."""
    n, m = rng.randint(1, 4), rng.randint(1, 4)
    rows = [_row(rng, m) for _ in range(n)]
    parts = [rng.choice([1, rng.randint(1, 20), rng.randint(1, 2**80)]) for _ in range(n)]
    prior = [Fraction(part, sum(parts)) for part in parts]
    if rng.random() < 0.3:
        prior = [float(p) for p in prior]
    names = _names(rng, n), _names(rng, m)
    lift = Certificate(0.0, rows, prior, *names).largest_lift
    level = max(0.0, float(np.log(float(lift))))
    for _ in range(rng.randint(0, 3)):
        level = float(np.nextafter(level, rng.choice([0.0, 9.0])))
    level = rng.choice([level, level, level, rng.random() * 10 ** rng.randint(-15, 2), 5e-324])
    return Certificate(level, rows, prior, *names)


def at_the_cut(rng):
    """A certificate whose largest lift differs from the cut of e^epsilon by little or nothing."""
    level = rng.choice([rng.uniform(0.7, 5), rng.uniform(0.7, 300), rng.uniform(1e-3, 0.69)])
    lift = exp_below(level) * (1 + Fraction(rng.randint(-2, 2), 10 ** rng.randint(39, 60)))
    if lift > 2:  # the identity: the rare secret has the largest lift
        rows, prior = [[UNITS, 0], [0, UNITS]], [1 / lift, 1 - 1 / lift]
    else:  # half of the rare secret reveals nothing, so its lift is 1 / (p + (1 - p) / 2)
        share = 2 / lift - 1
        rows, prior = [[UNITS, 0], [UNITS // 2, UNITS // 2]], [share, 1 - share]
    return Certificate(level, rows, prior, (0, 1), ("a", "b"))


def _row(rng, m):
    cuts = sorted(rng.choice([0, UNITS, rng.randint(0, UNITS)]) for _ in range(m - 1))
    ends = [0, *cuts, UNITS]
    return [high - low for low, high in zip(ends, ends[1:])]


def _names(rng, count):
    kinds = [
        lambda: "".join(rng.choice('ab"\\/\n\t\x7fé≤\U0001f600 ,:[]{}0') for _ in range(4)),
        lambda: rng.randint(-(10 ** rng.randint(1, 30)), 10 ** rng.randint(1, 30)),
        lambda: float(np.uint64(rng.getrandbits(64)).view(np.float64)),
        lambda: rng.choice([True, False, None, 1.5, 0, -7]),
    ]
    found = {}
    while len(found) < count:
        name = rng.choice(kinds)()
        if not isinstance(name, float) or np.isfinite(name):
            found.setdefault(name, name)
    return tuple(found.values())


def spelled(rng, text):
    """The same certificate in another spelling: order of the keys, white space, escapes."""
    pairs = list(json.loads(text).items())
    rng.shuffle(pairs)
    space = [rng.choice(["", " ", "\n", "\r\n\t"]) for _ in range(2)]
    marks = ("," + space[0], ":" + space[1])
    out = json.dumps(dict(pairs), separators=marks, ensure_ascii=rng.random() < 0.5)
    return "".join(_escaped(rng, c) for c in out)


def _escaped(rng, character):
    letter = character.isalpha() and character.isascii() and character not in "truefalsn"
    return f"\\u{ord(character):04x}" if letter and rng.random() < 0.02 else character


VALUES = ["0.4", "1", "true", "null", '"1/2"', "[]", '[["0"]]', "-0", "1e-7", "NaN", '"\\ud800"']
PIECES = list('{}[],:"\\0123456789.-+eE/_ \t\n') + ["true", "null", "\u00a0", "\u0661", "\\u0030"]


def mutated(rng, text):
    """The text with something in it swapped, deleted, doubled or replaced; bytes, as a file holds them."""
    lines, place = text.split("\n"), rng.randrange(len(text))
    line, other = rng.randrange(1, len(lines) - 2), rng.randrange(1, len(lines) - 2)
    kind = rng.randrange(8)
    if kind == 0:
        text = text[:place] + text[place + 1 :]
    elif kind == 1:
        text = text[:place] + rng.choice(PIECES) + text[place:]
    elif kind == 2:
        text = text[:place] + rng.choice(PIECES) + text[place + 1 :]
    elif kind == 3:
        lines[line], lines[other] = lines[other], lines[line]
        text = "\n".join(lines)
    elif kind == 4:
        text = "\n".join(lines[:line] + rng.choice([[], [lines[other]] * 2]) + lines[line + 1 :])
    elif kind == 5:
        key = lines[line].partition(":")[0]
        lines[line] = f"{key}: {rng.choice(VALUES)}" + "," * lines[line].endswith(",")
        text = "\n".join(lines)
    elif kind == 6:
        digits = [place for place, c in enumerate(text) if c.isdigit()]
        place = rng.choice(digits)
        text = text[:place] + rng.choice("0123456789") + text[place + 1 :]
    else:
        data = bytearray(text.encode())
        data[place % len(data)] = rng.randrange(256)
        return bytes(data)
    return text.encode("utf-8", "surrogatepass")


def forged(rng):
    """A certificate with one change, and with all statements that follow from its numbers recomputed."""
    made = certificate(rng)
    raw = {
        "epsilon": [json.dumps(made.epsilon)],
        "inputs": [json.dumps(name) for name in made.inputs],
        "outputs": [json.dumps(name) for name in made.outputs],
        "prior": [json.dumps(str(p)) for p in made.prior],
        "units": [str(UNITS)],
    } | {f"row {i}": list(map(str, row)) for i, row in enumerate(made.weights.tolist())}
    for _ in range(rng.randint(1, 2)):
        parts = raw[rng.choice([key for key, parts in raw.items() if parts])]
        place = rng.randrange(len(parts))
        parts[place : place + 1] = rng.choice(
            [[odd(rng, parts[place])]] * 8 + [[], [parts[place]] * 2, [rng.choice(parts)]]
        )
    return sealed(raw, json.loads(made.to_json()))


def odd(rng, text):
    """Nearly the same value in another spelling, or nearly the same spelling for another value."""
    if match := re.fullmatch(r'"(\d+)(?:/(\d+))?"', text):
        p, q = match[1], match[2] or "1"
        double = f'"{2 * int(p)}/{2 * int(q)}"'
        spellings = [f'"{p}/{q}"', f'" {p}/{q}"', f'"{p}/{q}\\n"', f'"0{p}/{q}"', f'"{p}_0/{q}0"']
        return rng.choice([double, *spellings, f"{p}/{q}", f'"-{p}/{q}"', f'"{p}.0/{q}"', "0.5"])
    if text[0] == '"':
        return rng.choice([f"[{text}]", text[:-1] + '\\u0061"', text[:-1] + '\\ud800"', text[1:-1]])
    plus = [f"{text}.0", f"{text}0", f"{text}e0", f"{text}E+00", f"0{text}", f"-{text}", f"+{text}"]
    new = ["true", "false", "null", "0", "1", "1.0", "0.0", "-0.0", "NaN", str(UNITS + 1)]
    return rng.choice([*plus, *new, f'"{text}"', f"[{text}]", "9" * 41, "1e999", "0." + "3" * 50])


def sealed(raw, content):
    """The text of a certificate from raw pieces, with the claim and the verdict that they deserve."""
    rows = [f"[{', '.join(raw[key])}]" for key in raw if key.startswith("row")]
    pieces = {key: f"[{', '.join(raw[key])}]" for key in ("inputs", "outputs", "prior")}
    pieces |= {"weights": f"[{', '.join(rows)}]"}
    pieces |= {key: ", ".join(raw[key]) for key in ("epsilon", "units")}
    try:  # in good faith, as Python reads it
        read = {key: json.loads(text) for key, text in pieces.items()}
        prior = [Fraction(p) for p in read["prior"]]
        columns = list(zip(*([Fraction(k) for k in row] for row in read["weights"])))
        means = [sum(p * k for p, k in zip(prior, column)) / sum(prior) for column in columns]
        lift = max(max(column) / mean for column, mean in zip(columns, means) if mean)
        holds = lift <= exp_below(float(read["epsilon"]))
        names = f"inputs {json.dumps(read['inputs'])}, outputs {json.dumps(read['outputs'])}"
        claim = "no outcome has" if holds else "an outcome may have"
        claim += " a pointwise maximal leakage above "
        claim += f"{read['epsilon']!r} nats (as a 64-bit float) under this prior; "
        content |= {"claim": claim + names, "holds": holds, "largest_lift": str(lift)}
    except (ValueError, TypeError, ZeroDivisionError, OverflowError, KeyError):
        pass
    texts = {key: pieces.get(key) or json.dumps(value) for key, value in content.items()}
    lines = ",\n".join(f"  {json.dumps(key)}: {text}" for key, text in texts.items())
    return f"{{\n{lines}\n}}\n"


def files(count, seed):
    """Files for the readers: certificates, other spellings of them, mutations, sealed forgeries."""
    rng = random.Random(seed)
    for number in range(count):
        text = (at_the_cut(rng) if number % 8 < 2 else certificate(rng)).to_json()
        if number % 4 == 0:
            yield (text if number % 16 else spelled(rng, text)).encode()
        elif number % 4 == 1:
            yield mutated(rng, text)
        else:
            yield forged(rng).encode("utf-8", "surrogatepass")
