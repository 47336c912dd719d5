// <pml-staircase utilities="7,9;-9,8" prior="0.6,0.4">: forbid pairs of secret and outcome by a click, and see the least leakage.
// Everything is recomputed at each click, in the reader's browser, from the definition alone.
(() => {
  if (customElements.get("pml-staircase")) return;

  // Allowed outcomes scaled by the largest lift: entries 0 or t, one remainder between, within some set of allowed secrets.
  function columns(allowed, prior, t) {
    const found = new Map(), sets = prior.map((_, i) => 1 << i);
    for (let j = 0; j < allowed[0].length; j++) {
      const within = sets.filter((_, i) => allowed[i][j]).reduce((a, b) => a | b, 0);
      for (let full = within; ; full = (full - 1) & within) {
        const left = 1 - t * prior.reduce((sum, p, i) => sum + (full >> i & 1 ? p : 0), 0);
        for (let rest = 0; rest < prior.length; rest++) {
          const key = `${full} ${rest}`, lift = left / prior[rest];
          if (full >> rest & 1 || !(within >> rest & 1) || lift < -1e-12 || lift > t + 1e-12 || found.has(key)) continue;
          found.set(key, {outcome: j, lift: prior.map((_, i) => i === rest ? Math.min(Math.max(lift, 0), t) : full >> i & 1 ? t : 0)});
        }
        if (!full) break;
      }
    }
    return [...found.values()];
  }

  // Weights of columns that average to one for every secret, or null: the first phase of the simplex method, by Bland's rule.
  function weights(lifts, n) {
    const rows = Array.from({length: n}, (_, i) => [...lifts.map(lift => lift[i]), 1]), basis = rows.map((_, i) => -1 - i);
    const gain = [...lifts.map((_, c) => rows.reduce((sum, row) => sum + row[c], 0)), n];
    for (let turn = 0; turn < 5000; turn++) {
      const enter = lifts.findIndex((_, c) => gain[c] > 1e-11 && !basis.includes(c));
      if (enter < 0) break;
      let leave = -1;
      for (let i = 0; i < n; i++) {
        if (rows[i][enter] < 1e-9) continue;
        const [mine, best] = [rows[i].at(-1) / rows[i][enter], leave < 0 ? Infinity : rows[leave].at(-1) / rows[leave][enter]];
        if (mine < best - 1e-15 || mine <= best && basis[i] < basis[leave]) leave = i;
      }
      if (leave < 0) break;
      const pivot = rows[leave][enter];
      rows[leave] = rows[leave].map(v => v / pivot);
      for (const row of [...rows.filter((_, i) => i !== leave), gain]) {
        const share = row[enter];
        if (share) row.forEach((v, c) => { row[c] = v - share * rows[leave][c]; });
      }
      basis[leave] = enter;
    }
    const found = lifts.map(() => 0);
    basis.forEach((c, i) => { if (c >= 0) found[c] = Math.max(rows[i].at(-1), 0); });
    const off = i => Math.abs(lifts.reduce((sum, lift, c) => sum + found[c] * lift[i], -1));
    return rows.every((_, i) => off(i) < 1e-10) ? found : null;
  }

  // The least leakage of a table of allowed pairs, by halving, and a mechanism; null if a secret has no outcome.
  function least(allowed, prior) {
    if (allowed.some(row => !row.some(Boolean))) return null;
    const attempt = t => {
      const offered = columns(allowed, prior, t), found = weights(offered.map(one => one.lift), prior.length);
      if (!found) return null;
      const channel = allowed.map(row => row.map(() => 0));
      offered.forEach(({outcome, lift}, c) => lift.forEach((u, i) => { channel[i][outcome] += found[c] * u; }));
      return channel.map(row => { const sum = row.reduce((a, b) => a + b, 0); return row.map(v => v / sum); });
    };
    // Which columns there are changes only where the largest lift is one over the probability of some secrets: try these first.
    const some = prior.reduce((all, p) => [...all, ...all.map(mass => mass + p)], [0]).slice(1);
    const turns = [1, ...some.map(mass => 1 / mass).filter(t => t > 1)].sort((one, two) => one - two);
    let [first, last] = [0, turns.length - 1];
    while (first < last) {
      const middle = first + last >> 1;
      if (attempt(turns[middle])) last = middle;
      else first = middle + 1;
    }
    let [low, high, channel] = [turns[Math.max(first - 1, 0)], turns[first], attempt(turns[first])];
    for (let step = 0; step < 60 && high - low > 1e-13 * high; step++) {
      const middle = (low + high) / 2, better = attempt(middle);
      if (better) [high, channel] = [middle, better];
      else low = middle;
    }
    return {leakage: Math.log(high), channel};
  }

  // The staircase: for each worst utility that can be had, the least leakage that buys it.
  function stairs(utilities, prior) {
    const silent = Math.max(...utilities[0].map((_, j) => Math.min(...utilities.map(row => row[j]))));
    const favourite = Math.min(...utilities.map(row => Math.max(...row)));
    const values = [...new Set(utilities.flat())].filter(v => v >= silent && v <= favourite).sort((a, b) => a - b);
    const all = values.map(worst => ({worst, leakage: least(utilities.map(row => row.map(u => u >= worst)), prior).leakage}));
    return all.filter((step, k) => k === all.length - 1 || all[k + 1].leakage > step.leakage + 1e-9);
  }

  const WIDE = 300, HIGH = 210, LEFT = 44, TOP = 14, BOTTOM = 42;
  const STYLE = `
    :host { display: block; margin: 1.2rem 0; color: inherit; font-size: .9rem; }
    .all { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
    .pairs { flex: 1 1 20rem; max-width: 30rem; min-width: 0; }
    svg { width: min(22rem, 100%); height: auto; }
    text { fill: currentColor; font-size: 13px; }
    .axis { stroke: #8a8a8a; fill: none; }
    .stair { stroke: var(--pml-utility, #0072b2); stroke-width: 2.6; fill: none; }
    .step { fill: var(--pml-utility, #0072b2); cursor: pointer; }
    .here { fill: none; stroke: var(--pml-leakage, #d55e00); stroke-width: 3; }
    .guide { stroke: var(--pml-leakage, #d55e00); stroke-dasharray: 4 3; }
    table { font: inherit; color: inherit; border-collapse: collapse; width: 100%; table-layout: fixed; font-variant-numeric: tabular-nums; }
    caption { text-align: left; padding: .2rem 0; }
    th { font-weight: 400; padding: .15rem .2rem; overflow-wrap: anywhere; font-size: .85rem; }
    td { padding: 1px; }
    td button { font: inherit; color: inherit; width: 100%; background: transparent; border: 1px solid #8a8a8a; border-radius: 3px; padding: .15rem 0 .3rem; cursor: pointer; }
    td button:focus-visible { outline: 3px solid #0072b2; outline-offset: -1px; }
    td button[aria-pressed=true] { border-style: dashed; }
    td button[aria-pressed=true] .worth { text-decoration: line-through; }
    .bar { display: block; height: .4rem; margin: .15rem .3rem 0; background: linear-gradient(var(--pml-utility, #0072b2) 0 0) left / var(--share) 100% no-repeat; }
    .chance { display: block; font-size: .8rem; }
    label { display: block; margin: .5rem 0; }
    input { width: 100%; accent-color: #0072b2; display: block; }
    .value { font-size: 1.05rem; margin: .4rem 0; min-height: 2.6em; }`;

  class Staircase extends HTMLElement {
    static least = least;
    static stairs = stairs;

    connectedCallback() {
      if (this.shadowRoot) return;
      const names = (name, fallback) => JSON.parse(this.getAttribute(name) || "null") || fallback;
      this.utilities = (this.getAttribute("utilities") || "3,2,1;1,3,2;2,1,3").split(";").map(row => row.split(",").map(Number));
      const given = this.getAttribute("prior"), numbers = given ? given.split(",").map(Number) : this.utilities.map(() => 1);
      const sum = numbers.reduce((a, b) => a + b, 0);
      this.prior = numbers.map(p => p / sum);
      this.inputs = names("inputs", this.prior.map((_, i) => `secret ${i + 1}`));
      this.outputs = names("outputs", this.utilities[0].map((_, j) => `outcome ${j + 1}`));
      const root = this.attachShadow({mode: "open"});
      const pair = (i, j) => `<td><button type="button" data-pair="${i} ${j}"><span class="worth">${this.utilities[i][j]}</span>
        <span class="chance"></span><span class="bar"></span></button></td>`;
      root.innerHTML = `<style>${STYLE}</style><div class="all"><div class="pairs">
        <table><caption>What each pair is worth, and how often it occurs. Click a pair to forbid or allow it.</caption>
          <tr><td></td>${this.outputs.map(() => `<th scope="col"></th>`).join("")}</tr>
          ${this.inputs.map((_, i) => `<tr><th scope="row"></th>${this.outputs.map((_, j) => pair(i, j)).join("")}</tr>`).join("")}</table>
        <label>forbid what is worth less than <output class="threshold"></output> <input class="least" type="range"></label>
        <label><span class="common"></span> has probability <output class="share"></output> <input class="first" type="range" min="0.05" max="0.9" step="0.005"></label>
        </div><div><svg viewBox="0 0 ${WIDE + LEFT + 20} ${HIGH + TOP + BOTTOM}" role="img"></svg>
        <p class="value" aria-live="polite"></p></div></div>`;
      root.querySelectorAll("th[scope=col]").forEach((cell, j) => { cell.textContent = this.outputs[j]; });
      root.querySelectorAll("th[scope=row]").forEach((cell, i) => { cell.textContent = this.inputs[i]; });
      root.querySelector(".common").textContent = this.inputs[0];
      this.listen(root);
      this.allow(Number(this.getAttribute("threshold") ?? (this.steps()[1] ?? this.steps()[0]).worst));
    }

    listen(root) {
      const [level, share] = root.querySelectorAll("input");
      this.values = [...new Set(this.utilities.flat())].sort((a, b) => a - b);
      [level.min, level.max, level.step] = [0, this.values.length - 1, 1];
      share.value = this.prior[0];
      level.addEventListener("input", () => this.allow(this.values[level.value]));
      share.addEventListener("input", () => {
        const first = Number(share.value), scale = (1 - first) / (1 - this.prior[0]);
        this.prior = this.prior.map((p, i) => i ? p * scale : first);
        this.known = null;
        this.draw();
      });
      root.querySelectorAll("button").forEach(button => button.addEventListener("click", () => {
        const [i, j] = button.dataset.pair.split(" ").map(Number);
        this.allowed[i][j] = !this.allowed[i][j];
        this.draw();
      }));
      root.querySelector("svg").addEventListener("click", event => {
        if (event.target.dataset.worst) this.allow(Number(event.target.dataset.worst));
      });
    }

    steps() {
      return this.known ??= stairs(this.utilities, this.prior);
    }

    allow(threshold) {
      this.allowed = this.utilities.map(row => row.map(u => u >= threshold));
      this.shadowRoot.querySelector(".least").value = this.values.indexOf(threshold);
      this.draw();
    }

    draw() {
      const root = this.shadowRoot, found = least(this.allowed, this.prior), {inputs, outputs, utilities} = this;
      root.querySelectorAll("button").forEach(button => {
        const [i, j] = button.dataset.pair.split(" ").map(Number), ok = this.allowed[i][j], p = found ? found.channel[i][j] : 0;
        button.setAttribute("aria-pressed", String(!ok));
        button.setAttribute("aria-label", `${inputs[i]}, ${outputs[j]}: worth ${utilities[i][j]}, ${ok ? `probability ${p.toFixed(2)}` : "forbidden"}`);
        button.querySelector(".chance").textContent = ok ? p.toFixed(2) : "✕";
        button.querySelector(".bar").style.setProperty("--share", `${(100 * p).toFixed(1)}%`);
      });
      const slider = root.querySelector(".least"), threshold = this.values[slider.value];
      root.querySelector(".threshold").value = threshold;
      slider.setAttribute("aria-valuetext", String(threshold));
      root.querySelector(".share").value = this.prior[0].toFixed(3);
      const occurring = found ? utilities.flatMap((row, i) => row.filter((_, j) => found.channel[i][j] > 1e-9)) : [];
      const stuck = inputs.filter((_, i) => !this.allowed[i].some(Boolean)), worst = Math.min(...occurring);
      root.querySelector(".value").textContent = found
        ? `Least leakage ${found.leakage.toFixed(4)} nats; the worst that occurs is worth ${worst}.`
        : `Impossible: everything is forbidden for ${stuck.join(", ")}.`;
      this.picture(root.querySelector("svg"), found && [found.leakage, worst]);
    }

    picture(svg, here) {
      const steps = this.steps(), last = Math.max(steps.at(-1).leakage, here ? here[0] : 0) * 1.12 + .05;
      const [low, high] = [Math.min(...steps.map(s => s.worst), here ? here[1] : Infinity), steps.at(-1).worst], span = high - low || 1;
      const x = v => LEFT + WIDE * v / last, y = v => TOP + HIGH * (.06 + .88 * (high - v) / span);
      const points = steps.flatMap((s, k) => [[x(s.leakage), y(s.worst)], [k + 1 < steps.length ? x(steps[k + 1].leakage) : x(last), y(s.worst)]]);
      const path = points.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" "), base = TOP + HIGH;
      const every = last > 2.5 ? 1 : last > 1 ? .5 : .2, ticks = Array.from({length: Math.floor(last / every) + 1}, (_, k) => k * every);
      const shown = [...new Set([...steps.map(s => s.worst), ...here ? [here[1]] : []])];
      svg.setAttribute("aria-label", `The best worst utility against the leakage: ${steps.map(s => `${s.worst} from ${s.leakage.toFixed(3)} nats`).join(", ")}.` +
        (here ? ` This table: ${here[1]} for ${here[0].toFixed(3)} nats.` : " This table cannot be kept."));
      svg.innerHTML = `<path class="axis" d="M${LEFT} ${TOP}V${base}H${LEFT + WIDE}"/>` +
        ticks.map(v => `<text x="${x(v)}" y="${base + 17}" text-anchor="middle">${+v.toFixed(1)}</text>`).join("") +
        shown.map(v => `<text x="${LEFT - 7}" y="${y(v) + 4}" text-anchor="end">${v}</text>`).join("") +
        `<text x="${LEFT + WIDE / 2}" y="${base + 36}" text-anchor="middle">least leakage (nats)</text>
         <text transform="translate(12 ${TOP + HIGH / 2}) rotate(-90)" text-anchor="middle">worst utility</text>
         <polyline class="stair" points="${path}"/>` +
        steps.map(s => `<circle class="step" data-worst="${s.worst}" cx="${x(s.leakage)}" cy="${y(s.worst)}" r="6"><title>forbid what is worth less than ${s.worst}</title></circle>`).join("") +
        (here ? `<path class="guide" d="M${x(here[0])} ${base}V${y(here[1])}"/><circle class="here" cx="${x(here[0])}" cy="${y(here[1])}" r="10"/>` : "");
    }
  }
  customElements.define("pml-staircase", Staircase);
})();
