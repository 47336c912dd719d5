// <pml-simplex prior="0.5,0.3,0.2" epsilon="0.4">: three secrets, drawn as a triangle; drag the prior.
// Everything is recomputed at each move, in the reader's browser, from the definition alone.
(() => {
  if (customElements.get("pml-simplex")) return;
  const UTILITIES = {
    mutual_information: ["mutual information", t => t > 0 ? t * Math.log(t) : 0],
    chi_square: ["chi-square", t => (t - 1) ** 2],
    total_variation: ["total variation", t => Math.abs(t - 1) / 2],
  };

  // Vertices of the allowed lift vectors: entries 0 or c, and at most one remainder between.
  function vertices(prior, c) {
    const found = [];
    for (let rest = 0; rest < 3; rest++)
      for (let full = 0; full < 8; full++) {
        if (full >> rest & 1) continue;
        const mass = prior.reduce((sum, p, i) => sum + (full >> i & 1 ? c * p : 0), 0);
        const left = (1 - mass) / prior[rest];
        if (left < -1e-12 || left > c + 1e-12) continue;
        const lift = prior.map((_, i) => i === rest ? Math.min(Math.max(left, 0), c) : full >> i & 1 ? c : 0);
        if (!found.some(other => other.every((t, i) => Math.abs(t - lift[i]) < 1e-9))) found.push(lift);
      }
    return found;
  }

  // Weights with which three posteriors average to the prior, or null.
  function weights([a, b, d], p) {
    const det = (b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]);
    if (Math.abs(det) < 1e-14) return null;
    const v = ((p[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (p[1] - a[1])) / det;
    const w = ((b[0] - a[0]) * (p[1] - a[1]) - (p[0] - a[0]) * (b[1] - a[1])) / det;
    const all = [1 - v - w, v, w];
    return Math.min(...all) < -1e-11 ? null : all.map(x => Math.max(x, 0));
  }

  // The best mixture of vertices: with three secrets three outcomes are enough, so try all triples.
  function solve(prior, epsilon, utility = "mutual_information") {
    const c = Math.exp(epsilon), f = UTILITIES[utility][1];
    const lifts = vertices(prior, c), posteriors = lifts.map(lift => lift.map((t, i) => t * prior[i]));
    const worth = lifts.map(lift => lift.reduce((sum, t, i) => sum + prior[i] * f(t), 0));
    let best = {value: 0, used: [], mass: []};
    for (let i = 0; i < lifts.length; i++)
      for (let j = 0; j < i; j++)
        for (let k = 0; k < j; k++) {
          const mass = weights([posteriors[i], posteriors[j], posteriors[k]], prior);
          if (!mass) continue;
          const value = mass[0] * worth[i] + mass[1] * worth[j] + mass[2] * worth[k];
          if (value > best.value + 1e-13) best = {value, used: [i, j, k], mass};
        }
    const kept = best.used.map((v, y) => [v, best.mass[y]]).filter(([, w]) => w > 1e-9);
    const channel = prior.map((_, x) => kept.length ? kept.map(([v, w]) => w * lifts[v][x]) : [1]);
    return {value: best.value, channel, lifts, posteriors, used: kept.map(([v]) => v)};
  }

  const SIDE = 300, TOP = 26, LEFT = 30, HIGH = SIDE * Math.sqrt(3) / 2;
  const place = q => [LEFT + SIDE * (q[1] + q[2] / 2), TOP + HIGH * (1 - q[2])];
  function belief(x, y) {
    const third = 1 - (y - TOP) / HIGH, second = (x - LEFT) / SIDE - third / 2;
    const q = [1 - second - third, second, third].map(v => Math.max(v, .01));
    const sum = q[0] + q[1] + q[2];
    return q.map(v => v / sum);
  }
  const line = points => points.map(q => place(q).map(v => v.toFixed(1)).join(",")).join(" ");
  const three = x => (Math.round(x * 1000) / 1000).toFixed(3);

  const STYLE = `
    :host { display: block; margin: 1.2rem 0; color: inherit; font-size: .9rem; }
    .all { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; align-items: flex-start; }
    svg { width: min(19rem, 100%); height: auto; touch-action: none; }
    text { fill: currentColor; font-size: 13px; }
    .edge { fill: none; stroke: #8a8a8a; }
    .allowed { fill: #d55e00; fill-opacity: .13; stroke: #d55e00; stroke-width: 1.5; }
    .vertex { fill: none; stroke: #d55e00; stroke-width: 1.5; }
    .fan { stroke: #0072b2; stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
    .used { fill: #0072b2; }
    .prior { cursor: grab; outline: none; }
    .prior circle { fill: currentColor; }
    .prior .halo { fill: transparent; stroke: transparent; stroke-width: 3; }
    .prior:focus-visible .halo { stroke: #0072b2; }
    .panel { flex: 1 1 15rem; min-width: 14rem; }
    label { display: block; margin-bottom: .5rem; }
    input { width: 100%; accent-color: #d55e00; display: block; }
    select { color: inherit; background: transparent; border: 1px solid #8a8a8a; border-radius: 3px; font: inherit; }
    option { color: #111; background: #fff; }
    table { font: inherit; color: inherit; border-collapse: collapse; margin: .6rem 0 0; font-variant-numeric: tabular-nums; }
    th, td { padding: .1rem .3rem; text-align: right; font-weight: 400; }
    @media (min-width: 48rem) { th:first-child { white-space: nowrap; } }
    @media (max-width: 30rem), print { th, td { padding-inline: .25rem; } }
    caption { text-align: left; padding: .2rem 0; }
    tr.leak td, tr.leak th { color: var(--pml-leakage, #d55e00); }
    .value { font-size: 1.05rem; margin: .2rem 0; }`;

  class Simplex extends HTMLElement {
    static solve = solve;

    connectedCallback() {
      if (this.shadowRoot) return;
      const numbers = (this.getAttribute("prior") || "0.5,0.3,0.2").split(",").map(Number);
      const sum = numbers.reduce((a, b) => a + b, 0);
      this.prior = numbers.map(p => p / sum);
      const root = this.attachShadow({mode: "open"});
      const options = Object.entries(UTILITIES).map(([k, [name]]) => `<option value="${k}">${name}</option>`);
      root.innerHTML = `<style>${STYLE}</style><div class="all">
        <svg viewBox="0 0 ${SIDE + 2 * LEFT} ${HIGH + TOP + 28}" role="group" aria-label="Beliefs about three secrets, as a triangle">
          <polygon class="edge" points="${line([[1, 0, 0], [0, 1, 0], [0, 0, 1]])}"/>
          <polygon class="allowed"/><g class="mix"></g>
          <text x="${LEFT}" y="${TOP + HIGH + 20}" text-anchor="middle">secret 1</text>
          <text x="${LEFT + SIDE}" y="${TOP + HIGH + 20}" text-anchor="middle">secret 2</text>
          <text x="${LEFT + SIDE / 2}" y="${TOP - 10}" text-anchor="middle">secret 3</text>
          <g class="prior" tabindex="0" role="slider" aria-label="prior, moved by the arrow keys"
             aria-valuemin="0" aria-valuemax="1"><circle class="halo" r="13"/><circle r="5.5"/></g>
        </svg>
        <div class="panel">
          <label>level ε <output></output> nats <input type="range" min="0" max="2" step="0.005"></label>
          <label>utility <select>${options.join("")}</select></label>
          <p class="value" aria-live="polite"></p><table></table>
        </div></div>`;
      this.level = root.querySelector("input");
      this.choice = root.querySelector("select");
      this.level.value = this.getAttribute("epsilon") || 0.4;
      this.choice.value = this.getAttribute("utility") || "mutual_information";
      for (const control of [this.level, this.choice]) control.addEventListener("input", () => this.draw());
      this.listen(root.querySelector("svg"), root.querySelector(".prior"));
      this.draw();
    }

    listen(svg, handle) {
      const follow = event => {
        const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        this.prior = belief(point.x, point.y);
        this.draw();
      };
      svg.addEventListener("pointerdown", event => {
        svg.setPointerCapture(event.pointerId);
        follow(event);
        handle.focus();
        event.preventDefault();
      });
      svg.addEventListener("pointermove", event => svg.hasPointerCapture(event.pointerId) && follow(event));
      const steps = {ArrowLeft: [-3, 0], ArrowRight: [3, 0], ArrowUp: [0, -3], ArrowDown: [0, 3]};
      handle.addEventListener("keydown", event => {
        const step = steps[event.key];
        if (!step) return;
        const [x, y] = place(this.prior);
        this.prior = belief(x + step[0], y + step[1]);
        this.draw();
        event.preventDefault();
      });
    }

    draw() {
      const root = this.shadowRoot, epsilon = Number(this.level.value), p = this.prior;
      const found = solve(p, epsilon, this.choice.value);
      const [cx, cy] = place(p);
      const around = [...found.posteriors].sort((a, b) => {
        const [[ax, ay], [bx, by]] = [place(a), place(b)];
        return Math.atan2(ay - cy, ax - cx) - Math.atan2(by - cy, bx - cx);
      });
      root.querySelector(".allowed").setAttribute("points", line(around));
      const dot = (q, name, r) => `<circle class="${name}" cx="${place(q)[0]}" cy="${place(q)[1]}" r="${r}"/>`;
      root.querySelector(".mix").innerHTML =
        found.used.map(v => `<polyline class="fan" points="${line([p, found.posteriors[v]])}"/>`).join("") +
        found.posteriors.map(q => dot(q, "vertex", 4)).join("") +
        found.used.map(v => dot(found.posteriors[v], "used", 5.5)).join("");
      const handle = root.querySelector(".prior"), words = `prior ${p.map(three).join(", ")}`;
      handle.setAttribute("transform", `translate(${cx} ${cy})`);
      handle.setAttribute("aria-valuenow", three(p[0]));
      handle.setAttribute("aria-valuetext", words);
      root.querySelector("output").value = epsilon.toFixed(3);
      root.querySelector(".value").textContent = `${UTILITIES[this.choice.value][0]} ${found.value.toFixed(4)}`;
      this.table(root.querySelector("table"), found.channel, p);
    }

    table(table, channel, p) {
      const outcomes = channel[0].map((_, y) => y + 1);
      const leak = outcomes.map((_, y) => {
        const mean = channel.reduce((sum, row, x) => sum + p[x] * row[y], 0);
        return Math.log(Math.max(...channel.map(row => row[y])) / mean);
      });
      const row = (name, cells) => `<th scope="row">${name}</th>${cells.map(v => `<td>${three(v)}</td>`).join("")}`;
      table.innerHTML = "<caption>the best mechanism: a row of probabilities for each secret</caption>" +
        `<tr><td></td><th scope="col">prior</th>${outcomes.map(y => `<th scope="col">outcome ${y}</th>`).join("")}</tr>` +
        channel.map((cells, x) => `<tr>${row(`secret ${x + 1}`, [p[x], ...cells])}</tr>`).join("") +
        `<tr class="leak"><th scope="row">leakage</th><td></td>${leak.map(v => `<td>${three(v)}</td>`).join("")}</tr>`;
    }
  }
  customElements.define("pml-simplex", Simplex);
})();
