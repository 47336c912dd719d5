// A certificate of pmlbook, read and decided in plain JavaScript: in the page that loads this file, or in Node.
// Whole numbers of any size (BigInt), no imports, and nothing leaves the machine.
"use strict";
(() => {
  const UNITS = 2n ** 53n;
  const KEYS = "format claim holds epsilon largest_lift inputs outputs prior units weights".split(" ");
  const PILOT_KEYS = "pilot_people pilot_confidence pilot_low pilot_high".split(" ");
  const KNOWN = [...KEYS, "input_kind", ...PILOT_KEYS];
  const KINDS = ["time stamp", "date", "time", "duration", "decimal"];

  class Refused extends Error {}

  function need(condition, reason) {
    if (!condition) throw new Refused(reason);
  }

  // ---- The text: strict JSON. A number stays the text that it is: {number: "0.4"}.

  function parse(text) {
    let at = 0;

    function space() {
      while (at < text.length && " \t\n\r".includes(text[at])) at += 1;
    }

    function take(mark) {
      space();
      const there = text[at] === mark;
      if (there) at += 1;
      return there;
    }

    function string() {
      need(take('"'), "no JSON: a text should begin here");
      const plain = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
      let found = "", start = at;
      for (; text[at] !== '"'; at += 1) {
        need(at < text.length && text[at] >= " ", "no JSON: a text does not end");
        if (text[at] !== "\\") continue;
        found += text.slice(start, at);
        at += 1;
        if (text[at] === "u") {
          const code = text.slice(at + 1, at + 5);
          need(/^[0-9a-fA-F]{4}$/.test(code), "no JSON: a broken character");
          found += String.fromCharCode(parseInt(code, 16));
          at += 4;
        } else {
          need(Object.hasOwn(plain, text[at] ?? ""), "no JSON: a broken character");
          found += plain[text[at]];
        }
        start = at + 1;
      }
      at += 1;
      return found + text.slice(start, at - 1);
    }

    function number() {
      const start = at;
      while (at < text.length && "+-.eE0123456789".includes(text[at])) at += 1;
      need(at - start <= 40, "a number of more than 40 characters");
      const raw = text.slice(start, at);
      const whole = /^(0|-?[1-9][0-9]*)$/.test(raw);
      const float = /^-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?$/.test(raw) && pythonFloat(Number(raw)) === raw;
      need(whole || float, "a number that is not written as Python writes it");
      return { number: raw, whole };
    }

    function list(depth) {
      const found = [];
      need(depth < 2, "lists in lists in lists");
      if (take("]")) return found;
      do found.push(value(depth + 1)); while (take(","));
      need(take("]"), "no JSON: a list does not end");
      return found;
    }

    function value(depth) {
      if (take("[")) return list(depth);
      if (text[at] === '"') return string();
      for (const [word, meant] of [["true", true], ["false", false], ["null", null]]) {
        if (text.startsWith(word, at)) {
          at += word.length;
          return meant;
        }
      }
      return number();
    }

    const content = new Map();
    need(take("{"), "no JSON: it is no object");
    do {
      const key = string();
      need(!content.has(key), "a key is there twice");
      need(KNOWN.includes(key), "a key that does not belong here");
      need(take(":"), "no JSON: a key without a value");
      content.set(key, value(0));
    } while (take(","));
    need(take("}"), "no JSON: the object does not end");
    space();
    need(at === text.length, "no JSON: something follows the object");
    return content;
  }

  // A float as Python writes it: 0.4, 1.0, 1e-05, 1e+16.
  function pythonFloat(value) {
    if (!Number.isFinite(value)) return "no number";
    const sign = value < 0 ? "-" : "";
    const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
    const power = Number(exponent), digits = mantissa.replace(".", "");
    if (power < -4 || power >= 16) {
      return `${sign}${mantissa}e${exponent[0]}${String(Math.abs(power)).padStart(2, "0")}`;
    }
    if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
    const before = digits.slice(0, power + 1).padEnd(power + 1, "0");
    return `${sign}${before}.${digits.slice(power + 1) || "0"}`;
  }

  // A text as Python's json.dumps writes it, in ASCII.
  function asciiText(text) {
    const short = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
    return `"${text.replace(/["\\]|[^ -~]/g, (c) =>
      short[c] ?? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"))}"`;
  }

  function written(value) {
    if (typeof value === "string") return asciiText(value);
    if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
    return value?.number ?? String(value);
  }

  // ---- The parts.

  const gcd = (a, b) => {
    while (b) [a, b] = [b, a % b];
    return a;
  };

  // The prior as whole numbers, and what they sum to.
  function sharesOf(texts) {
    need(Array.isArray(texts) && texts.length <= 2 ** 14, "prior is no list, or a very long one");
    let common = 1n;
    const fractions = texts.map((text) => {
      const fits = typeof text === "string" && /^[1-9][0-9]{0,599}(\/[1-9][0-9]{0,599})?$/.test(text);
      need(fits, "prior holds something else than positive fractions");
      const [above, below] = text.split("/").map(BigInt);
      need(below === undefined || (below > 1n && gcd(above, below) === 1n), "a fraction of prior is not in lowest terms");
      const denominator = below ?? 1n;
      common *= denominator / gcd(common, denominator);
      need(common < 10n ** 600n, "prior needs a denominator of more than 600 digits");
      return [above, denominator];
    });
    const shares = fractions.map(([above, below]) => above * (common / below));
    need(shares.reduce((sum, share) => sum + share, 0n) === common, "prior does not sum to one");
    return [shares, common];
  }

  function rowsOf(rows, count) {
    need(Array.isArray(rows) && rows.length === count, "weights has another length than prior");
    return rows.map((row) => {
      need(Array.isArray(row) && row.length === rows[0].length && row.length > 0, "weights has ragged rows");
      need(row.length <= 2 ** 14 && count * row.length <= 2 ** 20, "weights has more than 2^20 entries");
      const numbers = row.map((entry) => {
        need(entry?.whole && /^[0-9]{1,16}$/.test(entry.number), "a weight is no whole number up to 2^53");
        return BigInt(entry.number);
      });
      need(numbers.reduce((sum, k) => sum + k, 0n) === UNITS, "a row of weights does not sum to 2^53");
      return numbers;
    });
  }

  // What Python compares: 1, 1.0 and true are equal, and so are 1e+22 and 10000000000000000000000.
  function sameness(name) {
    if (typeof name === "string") return `text ${name}`;
    if (typeof name === "boolean") return `number ${Number(name)}`;
    if (name === null) return "null";
    const value = Number(name.number);
    if (name.whole) return `number ${BigInt(name.number)}`;
    return `number ${Number.isInteger(value) ? BigInt(value) : name.number}`;
  }

  function checkNames(names, count) {
    need(Array.isArray(names) && names.length === count, "inputs or outputs has another length");
    for (const name of names) {
      need(!Array.isArray(name), "a name is a list");
      need(typeof name !== "string" || !/[\ud800-\udfff]/u.test(name), "a name holds half a character");
    }
    need(new Set(names.map(sameness)).size === count, "two names are equal");
  }

  // A float as a whole number over a power of two.
  function fractionOf(value) {
    let above = value, below = 1n;
    for (; !Number.isInteger(above); below *= 2n) above *= 2;
    return [BigInt(above), below];
  }

  const isFloat = (value) => value?.whole === false;

  // The least and the largest share of each secret, in whole numbers over one total.
  function limitsOf(get, count) {
    const people = get("pilot_people"), confidence = get("pilot_confidence");
    need(people?.whole && BigInt(people.number) > 0n && BigInt(people.number) < UNITS, "pilot_people is no whole number above 0");
    const sure = Number(confidence?.number);
    need(isFloat(confidence) && sure > 0 && sure < 1, "pilot_confidence is no float inside 0, 1");
    const ends = ["pilot_low", "pilot_high"].map(get);
    for (const list of ends) {
      need(Array.isArray(list) && list.length === count, "a limit of the pilot has another length");
      for (const end of list) need(isFloat(end) && Number(end.number) >= 0 && Number(end.number) <= 1, "a limit is no share");
    }
    const exact = ends.map((list) => list.map((end) => fractionOf(Number(end.number))));
    const total = exact.flat().reduce((most, [, below]) => (below > most ? below : most), 1n);
    const [low, high] = exact.map((list) => list.map(([above, below]) => above * (total / below)));
    need(low.every((least, i) => least <= high[i]), "limits of the pilot are crossed");
    const sum = (list) => list.reduce((whole, share) => whole + share, 0n);
    need(sum(low) <= total && total <= sum(high), "no prior lies within the limits");
    return [low, high, total];
  }

  // Whether no outcome has a lift above bound / scale under a prior within the limits.
  function keepsForAll(rows, [low, high, total], bound, scale) {
    return rows[0].every((_, j) => {
      const column = rows.map((row) => row[j]);
      const order = column.map((_, i) => i).sort((a, b) => (column[a] < column[b] ? -1 : column[a] > column[b] ? 1 : 0));
      let left = low.reduce((rest, share) => rest - share, total), mean = 0n;
      for (const i of order) {
        const room = high[i] - low[i], extra = left < room ? left : room;
        left -= extra;
        mean += (low[i] + extra) * column[i];
      }
      return column[order.at(-1)] * total * scale <= bound * mean;
    });
  }

  // e^epsilon, cut off after 40 digits, as a numerator over 10^places: partial sums of the series, once
  // always rounded down and once up. From n >= 2 epsilon on, all further terms sum to at most the last one.
  function expBelow(epsilon) {
    const [above, below] = fractionOf(epsilon);
    for (let places = 60n; ; places *= 2n) {
      const scale = 10n ** places;
      let low = scale, high = scale, termLow = scale, termHigh = scale;
      for (let n = 1; n <= 2 * epsilon + 1 || termHigh > 1n; n += 1) {
        const divisor = BigInt(n) * below;
        termLow = (termLow * above) / divisor;
        termHigh = (termHigh * above + divisor - 1n) / divisor;
        low += termLow;
        high += termHigh;
      }
      high += termHigh;
      const cut = 10n ** BigInt(String(low).length - 40);
      if (low / cut === high / cut) return [(low / cut) * cut, scale];
    }
  }

  function largestLift(shares, total, rows) {
    let top = 0n, mean = 1n;
    for (let j = 0; j < rows[0].length; j += 1) {
      let most = 0n, sum = 0n;
      rows.forEach((row, i) => {
        if (row[j] > most) most = row[j];
        if (row[j]) sum += shares[i] * row[j];
      });
      if (most * total * mean > top * sum) [top, mean] = [most * total, sum];
    }
    const common = gcd(top, mean);
    return [top / common, mean / common];
  }

  // ---- The verdict: whether it holds, its claim and its text as the library writes it; Refused if it is none.

  function check(bytes) {
    need(bytes.length <= 2 ** 25, "more than 2^25 bytes");
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Refused("it is not UTF-8");
    }
    const content = parse(text), get = (key) => content.get(key);
    need(KEYS.every((key) => content.has(key)), "a key is missing");
    const piloted = PILOT_KEYS.filter((key) => content.has(key)).length;
    need(piloted === 0 || piloted === PILOT_KEYS.length, "a part of a pilot only");
    const level = get("epsilon"), epsilon = Number(level?.number);
    need(level?.whole === false && epsilon >= 0 && epsilon <= 1000, "epsilon is no float from 0 to 1000");
    const [shares, total] = sharesOf(get("prior"));
    const rows = rowsOf(get("weights"), shares.length);
    checkNames(get("inputs"), rows.length);
    checkNames(get("outputs"), rows[0].length);

    const [above, below] = largestLift(shares, total, rows), [bound, scale] = expBelow(epsilon);
    const limits = piloted && limitsOf(get, rows.length);
    const holds = above * scale <= bound * below && (!piloted || keepsForAll(rows, limits, bound, scale));
    if (content.has("input_kind")) {
      need(KINDS.includes(get("input_kind")), "inputs are of no such kind");
      need(get("inputs").every((name) => typeof name === "string"), "an input is no text");
    }
    const claim =
      `${holds ? "no outcome has" : "an outcome may have"} a pointwise maximal leakage above ` +
      `${level.number} nats (as a 64-bit float) under this prior${piloted ? " and every prior that the pilot allows" : ""}; ` +
      `inputs ${written(get("inputs"))}, outputs ${written(get("outputs"))}`;
    need(get("format") === "pmlbook certificate 1", "another format");
    need(get("units")?.number === String(UNITS), "other units than 2^53");
    need(get("holds") === holds, "the numbers give another verdict than holds");
    const lift = below === 1n ? `${above}` : `${above}/${below}`;
    need(get("largest_lift") === lift, "the numbers give another largest_lift");
    need(get("claim") === claim, "the numbers give another claim");
    const lines = KNOWN.filter((key) => content.has(key)).map((key) => `  "${key}": ${written(get(key))}`);
    const due = `{\n${lines.join(",\n")}\n}\n`;
    need(text === due, "it is not written to the letter as the library writes it");
    return { holds, claim, text };
  }

  // SHA-256 of the text, in hexadecimal; null where the browser computes none (a page without https).
  async function digest(text) {
    if (!globalThis.crypto?.subtle) return null;
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  if (typeof document === "undefined") {
    module.exports = { check, digest, Refused };
    return;
  }

  // ---- The page: a field for a file, which can also be dropped on it.

  let asked = 0;

  async function show(file, answer) {
    const turn = (asked += 1);
    answer.replaceChildren(); // no old answer beside a new file
    const tell = (kind, ...lines) => {
      if (turn !== asked) return;
      answer.className = `pml-check-${kind}`;
      answer.replaceChildren(
        ...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })),
      );
    };
    try {
      need(file.size <= 2 ** 25, "more than 2^25 bytes");
      const { holds, claim, text } = check(new Uint8Array(await file.arrayBuffer()));
      const sum = await digest(text);
      tell(
        holds ? "holds" : "fails",
        holds ? "The certificate holds." : "It is a certificate, and it does not hold.",
        claim,
        ...(sum ? [`SHA-256: ${sum}`] : []),
      );
    } catch (error) {
      tell("fails", `Refused: ${error.message}.`);
      if (!(error instanceof Refused)) throw error;
    }
  }

  function install(place) {
    place.innerHTML =
      '<label><span>Drop a certificate here, or choose one:</span> ' +
      '<input type="file" accept=".json,application/json"></label><output></output>';
    const input = place.querySelector("input"), answer = place.querySelector("output");
    input.addEventListener("change", () => input.files.length && show(input.files[0], answer));
    for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
      place.addEventListener(kind, (event) => {
        event.preventDefault();
        place.classList.toggle("pml-check-over", kind === "dragenter" || kind === "dragover");
      });
    }
    place.addEventListener("drop", (event) => {
      const files = event.dataTransfer.files;
      if (!files.length) return;
      input.files = files;
      show(files[0], answer);
    });
  }

  document.querySelectorAll(".pml-check").forEach(install);
})();
