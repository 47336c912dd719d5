// <pml-saddle noise="0.1" entropy="0.8">: what an adversary learns about one of two people from a noisy count, as a surface to turn.
// Everything is recomputed at each move, in the reader's browser, from the definition alone.
(() => {
  if (customElements.get("pml-saddle")) return;
  const plog = v => v > 0 ? -v * Math.log(v) : 0;
  const entropy = row => row.reduce((sum, v) => sum + plog(v), 0);
  const mixed = (one, two, t) => one.map((v, y) => (1 - t) * v + t * two[y]);

  // Laws of the published count for each true count: each of the two others gets half of the noise.
  const channel = noise => [0, 1, 2].map(x => [0, 1, 2].map(y => x === y ? 1 - noise : noise / 2));

  // I(X1; Y) in nats if x1 = 1 with probability s, and x2 = 1 with probability t whatever x1 is.
  function information(s, t, noise) {
    const law = channel(noise), rows = [mixed(law[0], law[1], t), mixed(law[1], law[2], t)];
    return entropy(mixed(rows[0], rows[1], s)) - (1 - s) * entropy(rows[0]) - s * entropy(rows[1]);
  }
  const beliefEntropy = (s, t) => entropy([s, 1 - s]) + entropy([t, 1 - t]);

  // The point of the grid with entropy at least b at which most is learnt.
  function best(noise, b, size = 24) {
    let found = null;
    for (let i = 0; i <= size; i++)
      for (let j = 0; j <= size; j++) {
        const [s, t] = [i / size, j / size], value = information(s, t, noise);
        if (beliefEntropy(s, t) >= b - 1e-9 && (!found || value > found.value + 1e-12)) found = {s, t, value};
      }
    return found;
  }

  const SIZE = 24, WIDE = 420, HIGH = 330, ZOOM = 215, TALL = 1.1;
  const STYLE = `
    :host { display: block; margin: 1.2rem 0; color: inherit; font-size: .9rem; }
    .all { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
    svg { width: min(28rem, 100%); height: auto; touch-action: none; cursor: grab; outline: none; border-radius: 4px; }
    svg:focus-visible { box-shadow: 0 0 0 3px #0072b2; }
    text { fill: currentColor; font-size: 13px; text-anchor: middle; }
    .out { fill: var(--pml-baseline, #8a8a8a); fill-opacity: .16; stroke: var(--pml-baseline, #8a8a8a); stroke-opacity: .35; stroke-width: .5; }
    .in { fill: var(--pml-leakage, #d55e00); fill-opacity: .55; stroke: var(--pml-leakage, #d55e00); stroke-width: .5; }
    .edge { stroke: #8a8a8a; fill: none; }
    .concave, .convex { fill: none; stroke-width: 3; }
    .concave { stroke: var(--pml-utility, #0072b2); }
    .convex { stroke: var(--pml-adversary, #b0609a); }
    .dot { fill: var(--pml-adversary, #b0609a); stroke: #fff; stroke-width: 1.5; }
    .panel { flex: 1 1 14rem; min-width: 13rem; max-width: 24rem; }
    label { display: block; margin-bottom: .5rem; }
    input { width: 100%; accent-color: #d55e00; display: block; }
    p { margin: .3rem 0; }
    .value { font-size: 1.05rem; min-height: 2.6em; }
    i { display: inline-block; width: 1.2em; height: .25em; vertical-align: .25em; }
    .one { background: var(--pml-utility, #0072b2); }
    .two { background: var(--pml-adversary, #b0609a); }`;

  class Saddle extends HTMLElement {
    static information = information;
    static best = best;

    connectedCallback() {
      if (this.shadowRoot) return;
      [this.turn, this.tilt] = [-.65, .5];
      const root = this.attachShadow({mode: "open"});
      root.innerHTML = `<style>${STYLE}</style><div class="all">
        <svg viewBox="0 0 ${WIDE} ${HIGH}" tabindex="0" role="slider" aria-label="The information as a surface over s and t, turned by the arrow keys"
          aria-valuemin="-180" aria-valuemax="180"></svg>
        <div class="panel">
          <label>least entropy of the adversary <output></output> nats <input class="entropy" type="range" min="0" max="1.38" step="0.01"></label>
          <label>noise: probability of a wrong count <output></output> <input class="noise" type="range" min="0" max="0.6" step="0.005"></label>
          <p class="value" aria-live="polite"></p>
          <p><i class="one"></i> along your s the surface bends down, <i class="two"></i> along your friend's t it bends up.</p>
        </div></div>`;
      for (const [name, fallback] of [["entropy", .8], ["noise", .1]]) {
        this[name] = root.querySelector(`.${name}`);
        this[name].value = this.getAttribute(name) ?? fallback;
        this[name].addEventListener("input", () => this.compute());
      }
      this.listen(root.querySelector("svg"));
      this.compute();
    }

    listen(svg) {
      const by = (turn, tilt) => {
        this.turn = (this.turn + turn + 3 * Math.PI) % (2 * Math.PI) - Math.PI;
        this.tilt = Math.min(Math.max(this.tilt + tilt, .02), 1.5);
        this.draw();
      };
      let last = null;
      svg.addEventListener("pointerdown", event => {
        svg.setPointerCapture(event.pointerId);
        last = [event.clientX, event.clientY];
        svg.focus();
        event.preventDefault();
      });
      svg.addEventListener("pointermove", event => {
        if (!svg.hasPointerCapture(event.pointerId) || !last) return;
        by((event.clientX - last[0]) / 120, (event.clientY - last[1]) / 120);
        last = [event.clientX, event.clientY];
      });
      const keys = {ArrowLeft: [-.09, 0], ArrowRight: [.09, 0], ArrowUp: [0, -.07], ArrowDown: [0, .07]};
      svg.addEventListener("keydown", event => {
        if (!keys[event.key]) return;
        by(...keys[event.key]);
        event.preventDefault();
      });
    }

    compute() {
      const root = this.shadowRoot, noise = Number(this.noise.value), b = Number(this.entropy.value);
      this.height = Array.from({length: SIZE + 1}, (_, i) => Array.from({length: SIZE + 1}, (_, j) => information(i / SIZE, j / SIZE, noise)));
      this.found = best(noise, b, SIZE);
      for (const input of [this.entropy, this.noise]) input.previousElementSibling.value = Number(input.value).toFixed(input === this.entropy ? 2 : 3);
      root.querySelector(".value").textContent = this.found
        ? `Most is learnt at s = ${this.found.s.toFixed(2)}, t = ${this.found.t.toFixed(2)}: ${this.found.value.toFixed(3)} nats.`
        : "No belief on this sheet has so much entropy.";
      this.draw();
    }

    // A point of the unit square and a height, seen from the side; the third number is the distance.
    place(s, t, z) {
      const [x, y, up] = [s - .5, t - .5, TALL * (z - .22)], [c, d] = [Math.cos(this.turn), Math.sin(this.turn)];
      const [across, deep] = [c * x - d * y, d * x + c * y], [e, f] = [Math.cos(this.tilt), Math.sin(this.tilt)];
      return [WIDE / 2 + ZOOM * across, HIGH / 2 - ZOOM * (e * up + f * deep), e * deep - f * up];
    }

    draw() {
      const svg = this.shadowRoot.querySelector("svg"), b = Number(this.entropy.value), at = (i, j) => this.place(i / SIZE, j / SIZE, this.height[i][j]);
      const path = points => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
      const faces = [];
      for (let i = 0; i < SIZE; i++)
        for (let j = 0; j < SIZE; j++) {
          const vertices = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
          const inside = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].every(([k, l]) => beliefEntropy(k / SIZE, l / SIZE) >= b - 1e-9);
          faces.push([vertices.reduce((sum, p) => sum + p[2], 0), `<polygon class="${inside ? "in" : "out"}" points="${path(vertices)}"/>`]);
        }
      faces.sort((one, two) => two[0] - one[0]);
      const along = f => path(Array.from({length: SIZE + 1}, (_, k) => f(k))), half = SIZE / 2;
      const floor = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([s, t]) => this.place(s, t, 0));
      const name = (s, t, words) => { const [x, y] = this.place(s, t, 0); return `<text x="${x.toFixed(1)}" y="${(y + 5).toFixed(1)}">${words}</text>`; };
      const dot = this.found && this.place(this.found.s, this.found.t, this.found.value);
      svg.innerHTML = `<polygon class="edge" points="${path(floor)}"/>${faces.map(face => face[1]).join("")}
        <polyline class="concave" points="${along(k => at(k, half))}"/><polyline class="convex" points="${along(k => at(half, k))}"/>
        ${name(.5, -.14, "s: you")}${name(-.14, .5, "t: friend")}${name(0, -.14, "0")}${name(1, -.14, "1")}${name(-.14, 0, "0")}${name(-.14, 1, "1")}` +
        (dot ? `<circle class="dot" cx="${dot[0].toFixed(1)}" cy="${dot[1].toFixed(1)}" r="6"/>` : "");
      const degrees = v => Math.round(v * 180 / Math.PI);
      svg.setAttribute("aria-valuenow", degrees(this.turn));
      svg.setAttribute("aria-valuetext", `turned by ${degrees(this.turn)} degrees, seen from ${degrees(this.tilt)} degrees above`);
    }
  }
  customElements.define("pml-saddle", Saddle);
})();
