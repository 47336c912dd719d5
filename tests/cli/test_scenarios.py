"""Forty files and pilots: every sentence that is printed, computed by brute force; and a silent twin of each passes.

A scenario is a design from a pilot, and a file with a column that stays. What is printed is matched with the templates
of the command line, and each number is computed again from the file and the table of the mechanism, without a call of
the library. In its twin the column that stays is drawn independently, and the answers from the pilot's shares.
"""

import html
import itertools
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pmlbook.cli.sentences import TEMPLATES

KINDS = {  # whether a release is refused, and the way out that is taken then
    "nothing": "",
    "silent": "",
    "telling": "--visible beside",
    "proving": "--visible beside",
    "telling and silent": "--visible beside",
    "small groups": "",
    "person": "",
    "two a person": "",
    "moved": "--believed",
    "gaps": "",
}
PRIORS = ([0.6, 0.3, 0.1], [0.5, 0.3, 0.15, 0.05], [0.8, 0.2], [0.4, 0.3, 0.2, 0.1])
LEVELS = 0.3, 0.5, 0.2, 0.8
SIZE = 1500
SCENARIOS = list(itertools.product(KINDS, range(len(PRIORS))))


def beside(kind, answers, rng):
    """The columns that stay, each a list of texts."""
    size = len(answers)
    rare = np.array(answers) == max(answers)  # the last answer is the rarest
    silent = rng.choice(["north", "south"], size).tolist()
    telling = np.where(rng.random(size) < np.where(rare, 0.9, 0.1), "ward", "home").tolist()
    if kind == "nothing" or kind == "moved":
        return {}
    if kind == "proving":
        return {"beside": np.where(rare & (rng.random(size) < 0.9), "clinic", "home").tolist()}
    if kind == "telling and silent":
        return {"beside": telling, "region": silent}
    if kind == "small groups":
        return {"beside": [f"v{k // 12}" if k < 300 else "city" for k in range(size)]}
    if kind in ("person", "two a person"):
        return {"beside": [str(k // (1 + (kind != "person"))) for k in range(size)]}
    return {"beside": telling if kind == "telling" else silent}


def write(name, columns):
    rows = [",".join(columns), *map(",".join, zip(*columns.values()))]
    Path(name).write_text("\n".join(rows) + "\n")


class Truth:
    """What a file and a mechanism reveal, by Bayes' rule."""

    def __init__(self, certificate, columns):
        found = json.loads(Path(certificate).read_text())
        weights = np.array([list(map(int, row)) for row in found["weights"]], dtype=float)
        self.names = list(found["inputs"])
        self.table = weights / weights.sum(axis=1, keepdims=True)
        shares = [str(share) for share in found["prior"]]
        self.prior = np.array([eval(share) for share in shares], dtype=float)  # 3/5
        self.columns = {name: cells for name, cells in columns.items() if name != "answer"}
        self.answers = columns["answer"]
        self.limits = list(zip(found.get("pilot_low", []), found.get("pilot_high", [])))

    def lift(self, shares):
        there = shares > 0
        seen = shares @ self.table
        return (self.table[there][:, seen > 0] / seen[seen > 0]).max()

    def shares(self, answers):
        counts = Counter(answers)
        counted = np.array([counts[name] for name in self.names], dtype=float)
        return counted / counted.sum()

    def strata(self, column):
        found = {}
        for value, answer in zip(self.columns[column], self.answers):
            if answer:
                found.setdefault(value, []).append(answer)
        return found

    def within(self, column, least=30):
        """The largest lift in a stratum of at least 30 rows, or in all smaller ones together."""
        strata = list(self.strata(column).values())
        small = sum((own for own in strata if len(own) < least), [])
        kept = [own for own in strata if len(own) >= least] + [small] * (len(small) >= least)
        return max(self.lift(self.shares(own)) for own in kept), len(small)

    def worst(self):
        """The largest lift under a prior that the pilot allows: all but one share lie at a limit."""
        priors = []
        for free in range(len(self.names)):
            fixed = [ends if k != free else (0.0,) for k, ends in enumerate(self.limits)]
            for corner in map(np.array, itertools.product(*fixed)):
                corner[free] = 1 - corner.sum()
                low, high = self.limits[free]
                if low - 1e-15 <= corner[free] <= high + 1e-15:
                    priors.append(corner)
        # the largest probability counts, though its secret may have no share here
        return max((self.table.max(axis=0) / (prior @ self.table)).max() for prior in priors)

    def odds(self):
        """The most that the odds of anything about one person grow or fall."""
        most = 1.0
        for k in range(1, len(self.names)):
            for event in itertools.combinations(range(len(self.names)), k):
                a = self.prior[list(event)].sum()
                for column in self.table.T:
                    joint = self.prior * column
                    inside, all_ = joint[list(event)].sum(), joint.sum()
                    if all_ and inside < all_:
                        most = max(most, inside / (all_ - inside) * (1 - a) / a)
                    elif all_:
                        most = math.inf
        return most

    def error(self, size):
        """The largest standard error of a frequency: from the Fisher information of a multinomial."""
        seen = self.prior @ self.table
        used = seen > 0
        information = self.table[:, used] / seen[used] @ self.table[:, used].T
        if np.linalg.matrix_rank(self.table) < len(self.prior):
            return math.inf
        cost = np.linalg.inv(information) - np.outer(self.prior, self.prior)
        return math.sqrt(cost.diagonal().max() / size)

    def holds(self, line):
        """The template of a line; asserts that what it states is true."""
        told = next((t for t in TEMPLATES if re.fullmatch(t, line, re.IGNORECASE)), None)
        assert told, line
        number = re.search(r"([0-9][0-9.]*) (?:nats|times)", line)
        said = float(number[1]) if number else math.nan
        low = line.lower()
        if low.startswith(("level:", "at ", "under the prior of the design")):
            self.rounded(said, math.log(self.lift(self.prior)), low.startswith("under"))
        elif low.startswith("designed from a pilot"):
            self.rounded(said, math.log(self.worst()))
        elif "values with 30 rows or more each" in low:
            strata = self.strata(re.search("'(.*?)'", line)[1]).values()
            many = int(re.search("has ([0-9,]+) values", line)[1].replace(",", ""))
            assert many == sum(len(own) >= 30 for own in strata)
        elif low.startswith("under the shares of this file"):
            self.rounded(said, math.log(self.lift(self.shares(filter(None, self.answers)))))
        elif low.startswith("for a reader who knows"):
            name = re.search("'(.*?)'", line)[1]
            lift, small = self.within(name)
            self.rounded(said, math.log(lift))
            self.rounded(
                float(re.search("grow ([0-9.]+) times", line)[1]), lift, slack=0.01
            )  # three digits
            assert (f"; {small:,} rows have values with fewer" in line) == (small > 0), line
            exact = max(self.lift(self.shares(own)) for own in self.strata(name).values())
            assert "may learn more" in line or exact <= lift * (1 + 1e-9)
        elif "alone proves" in line:
            alone = [own for own in self.strata("beside").values() if len(set(own)) == 1]
            rows = int(re.search("in ([0-9,]+) rows", line)[1].replace(",", ""))
            assert rows == sum(len(own) for own in alone if len(own) >= 30)
        elif "rows share a value" in line:
            name = re.search("'(.*?)'", line)[1]
            assert int(line.split()[0]) == max(Counter(self.columns[name]).values())
        elif low.startswith("no belief in any"):
            assert self.lift(self.prior) <= 2
        elif low.startswith("the belief in some"):
            assert self.lift(self.prior) <= said * (1 + 1e-12)
        elif low.startswith("no odds"):
            assert self.odds() <= 2 + 1e-9
        elif low.startswith("after every outcome"):
            assert (self.table > 0).all()
        elif low.startswith("no outcome proves"):
            assert (np.count_nonzero(self.table, axis=0) != 1).all()
        elif low.startswith(("frequencies: estimated", "frequencies of the merged")):
            size = int(re.search("at ([0-9,]+) rows", line)[1].replace(",", ""))
            most = float(re.search("up to ([0-9.e-]+) at", line)[1])
            self.rounded(most, self.error(size), slack=0.1)
        elif low.startswith("frequencies: not determined"):
            assert self.error(1) == math.inf
        elif low.startswith("the frequencies can"):
            assert ("cannot" in low) == (self.error(1) == math.inf)
        elif "publish" in low:
            alone = np.count_nonzero(self.table, axis=0) == 1
            assert ("publishes nothing" in line) == (not alone.any())
        elif "local differential privacy" in low:
            assert ("no level" in low) == (not self.table.all())
        return told

    @staticmethod
    def rounded(said, true, close=True, slack=1e-3):
        """Rounded up, and by little."""
        assert said >= true * (1 - 1e-9)
        assert not close or said <= true * (1 + slack) + 1e-6


FACTS = re.compile(
    r"(output|sha256|epsilon|holds|inputs|names|outputs|for|utility|value|bound|method|column|rows|gaps|log|written|counted)"
    r": .*|pmlbook .*|[0-9,]+ answers(, | were counted, and ).*|.*: [0-9,]+ \([0-9.]+%\)|"
    r"The certificates show the shares.*|Each answer is replaced.*|The certificate of these answers.*"
)


def sentences_of(out, page=""):
    lines = [line for line in out.splitlines() if not FACTS.fullmatch(line)]
    for part in re.findall("<(?:p|li)>(.*?)</(?:p|li)>", page):
        text = re.sub("<.*?>", "", html.unescape(part))
        if FACTS.fullmatch(text):
            continue
        if text.startswith("The frequencies can"):
            text = text.removesuffix(" The lines are two standard errors.")
        lines.append(text if re.match("At |Th|No|Af|An|It|Some", text) else text.removesuffix("."))
    return [line for line in lines if line]


@pytest.mark.parametrize("kind, place", SCENARIOS)
def test_no_sentence_is_false(run, kind, place):
    rng = np.random.default_rng([place, list(KINDS).index(kind)])
    prior, epsilon, names = PRIORS[place], LEVELS[place], list("abcd")[: len(PRIORS[place])]
    goal = "information" if place == 3 else "frequencies"
    answers = rng.choice(names, SIZE, p=prior[::-1] if kind == "moved" else prior).tolist()
    stays = beside(kind, answers, rng)
    if kind == "gaps":
        answers = [answer if k % 10 else "" for k, answer in enumerate(answers)]
    columns = stays | {"answer": answers}
    write("in.csv", columns)
    twin = {name: rng.permutation(cells).tolist() for name, cells in stays.items()}
    write("twin.csv", twin | {"answer": rng.choice(names, SIZE, p=prior).tolist()})
    words = " ".join(f"{name}={share}" for name, share in zip(names, prior))

    code, out, err = run(f"design {words} --epsilon {epsilon} --for {goal} -o m.json")
    assert code == 0, err
    truth = Truth("m.json", columns)
    used = {truth.holds(line) for line in sentences_of(out)}

    missing = " --missing keep" if kind == "gaps" else ""
    release = f"release m.json in.csv out.csv --column answer{missing}"
    code, out, err = run(release)
    assert (code != 0) == bool(KINDS[kind]), (kind, code, err)
    if code:
        assert not Path("out.csv").exists()
        found = re.search(r"level is ([0-9.]+) nats", err)
        if found:
            lift = (
                truth.lift(truth.shares(answers)) if kind == "moved" else truth.within("beside")[0]
            )
            truth.rounded(float(found[1]), math.log(lift))
        assert KINDS[kind].split()[0] in err
        code, out, err = run(f"{release} {KINDS[kind]}")
        assert code == 0, err
    used |= {truth.holds(line) for line in sentences_of(out)}
    assert any(t.startswith("level") for t in used)
    assert any("rows share a value" in t for t in used) == (kind == "two a person")

    code, _, err = run("release m.json twin.csv twin_out.csv --column answer")
    assert code == 0, err  # unhindered

    begin = f"start in.csv answer --for {goal} --epsilon {epsilon} --merge-below 0 -o s"
    way = KINDS[kind] if "visible" in KINDS[kind] else ""
    code, out, err = run(f"{begin} {way}")
    assert code == 0, err
    truth = Truth("s.mechanism.json", columns)
    for line in sentences_of(out, Path("s.report.html").read_text()):
        truth.holds(line)


@pytest.mark.parametrize("place", range(len(PRIORS)))
def test_a_pilot_covers_the_people_it_was_drawn_from(run, place):
    """The level of a design from 400 people holds under the shares of all, which the design does not know."""
    rng = np.random.default_rng(place)
    prior, epsilon, names = PRIORS[place], LEVELS[place], list("abcd")[: len(PRIORS[place])]
    pilot, people = (rng.choice(names, size, p=prior).tolist() for size in (400, SIZE))
    write("pilot.csv", {"answer": pilot})
    write("in.csv", {"answer": people})
    code, out, err = run(f"design --pilot pilot.csv --column answer --epsilon {epsilon} -o m.json")
    assert code == 0, err
    truth = Truth("m.json", {"answer": pilot})
    lines = sentences_of(out)
    assert any("every prior that the pilot allows" in line for line in lines)
    for line in lines:
        if not line.startswith("level:"):
            truth.holds(line)
    assert math.log(truth.lift(np.array(prior))) <= epsilon
    code, out, err = run("release m.json in.csv out.csv --column answer")
    assert code == 0, err


def test_explain_prints_known_sentences(run):
    for epsilon in (0.2, 0.8, 3.0):
        code, out, _ = run(f"explain a=60 b=30 c=10 --epsilon {epsilon}")
        assert code == 0
        for line in out.splitlines():
            assert any(re.fullmatch(t, line, re.IGNORECASE) and TEMPLATES[t] for t in TEMPLATES), (
                line
            )
