// <pml-source-set vertices="0.7,0.2,0.1;0.2,0.7,0.1">: drag the vertices of a source set on three symbols, and see it folded.
// Everything is recomputed at each move, in the reader's browser, from the definition alone.
(() => {
  if (customElements.get("pml-source-set")) return;
  const ORDERS = [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1], [0, 2, 1]];
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

  // Vertices of the convex hull, counter-clockwise in the plane of the first two probabilities.
  function hull(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const half = list => {
      const found = [];
      for (const p of list) {
        while (found.length > 1 && turn(found.at(-2), found.at(-1), p) <= 1e-13) found.pop();
        found.push(p);
      }
      return found.slice(0, -1);
    };
    return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
  }

  // The part of a polygon on which a linear function is not negative.
  function cut(polygon, f) {
    return polygon.flatMap((p, k) => {
      const q = polygon[(k + 1) % polygon.length], [a, b] = [f(p), f(q)];
      const kept = a >= 0 ? [p] : [];
      if (a * b < 0) kept.push(p.map((v, i) => v + (q[i] - v) * a / (a - b)));
      return kept;
    });
  }

  function area(polygon) {
    return polygon.reduce((sum, p, k) => {
      const q = polygon[(k + 1) % polygon.length];
      return sum + (p[0] * q[1] - p[1] * q[0]) / 2;
    }, 0);
  }

  // What two convex polygons, both counter-clockwise, have in common.
  const meet = (one, two) => two.reduce((left, a, k) => cut(left, p => turn(a, two[(k + 1) % two.length], p)), one);

  // The pieces of a set, one for each order, folded onto the chamber P1 >= P2 >= P3, and what they share.
  function fold(vertices) {
    const whole = hull(vertices), pieces = [];
    for (const order of ORDERS) {
      const [i, j, k] = order;
      const piece = cut(cut(whole, p => p[i] - p[j]), p => p[j] - p[k]);
      if (Math.abs(area(piece)) < 1e-9) continue;
      pieces.push({order: order.map(s => s + 1).join(""), folded: hull(piece.map(p => order.map(s => p[s])))});
    }
    const centre = [1 / 3, 1 / 3, 1 / 3];
    const inside = whole.length > 2 && whole.every((a, k) => turn(a, whole[(k + 1) % whole.length], centre) >= -1e-9);
    const shared = pieces.map(one => one.folded).reduce(meet, pieces.length ? pieces[0].folded : []);
    return {kind: inside ? "I" : pieces.length === 1 ? "II" : "III", whole, pieces, shared, area: area(shared)};
  }

  const SIDE = 300, TOP = 26, LEFT = 30, HIGH = SIDE * Math.sqrt(3) / 2, BASE = TOP + HIGH;
  const place = q => [LEFT + SIDE * (q[1] + q[2] / 2), TOP + HIGH * (1 - q[2])];
  const beside = q => { // the chamber, half of a third of the triangle, drawn twice as large
    const [x, y] = place(q);
    return [LEFT + (x - LEFT) * 2, BASE - (BASE - y) * 2];
  };
  const line = (points, where = place) => points.map(q => where(q).map(v => v.toFixed(1)).join(",")).join(" ");
  function belief(x, y) {
    const third = 1 - (y - TOP) / HIGH, second = (x - LEFT) / SIDE - third / 2;
    const q = [1 - second - third, second, third].map(v => Math.max(v, .005));
    const sum = q[0] + q[1] + q[2];
    return q.map(v => v / sum);
  }

  const STYLE = `
    :host { display: block; margin: 1.2rem 0; color: inherit; font-size: .9rem; }
    .all { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-end; }
    svg { width: min(21rem, 100%); height: auto; }
    .set { touch-action: none; }
    text { fill: currentColor; font-size: 13px; text-anchor: middle; }
    .edge { fill: none; stroke: #8a8a8a; }
    .wall { stroke: #8a8a8a; stroke-dasharray: 4 3; }
    .whole { fill: #b0609a; fill-opacity: .2; stroke: #b0609a; stroke-width: 1.8; }
    .piece { fill: #b0609a; fill-opacity: .14; stroke: #b0609a; stroke-width: 1.2; }
    .shared { fill: #b0609a; fill-opacity: .8; }
    .vertex { cursor: grab; outline: none; }
    .vertex circle { fill: currentColor; }
    .vertex .halo { fill: transparent; stroke: transparent; stroke-width: 3; }
    .vertex:focus-visible .halo { stroke: #0072b2; }
    p { flex: 1 1 100%; margin: 0; }`;

  class SourceSet extends HTMLElement {
    static fold = fold;

    connectedCallback() {
      if (this.shadowRoot) return;
      const given = this.getAttribute("vertices") || "0.74,0.2,0.06;0.6,0.24,0.16;0.12,0.6,0.28;0.16,0.78,0.06";
      this.vertices = given.split(";").map(row => row.split(",").map(Number));
      const walls = [0, 1, 2].map(i => [[0, 1, 2].map(j => +(i === j)), [0, 1, 2].map(j => i === j ? 0 : .5)]);
      const chamber = [[1, 0, 0], [.5, .5, 0], [1 / 3, 1 / 3, 1 / 3]];
      const root = this.attachShadow({mode: "open"});
      root.innerHTML = `<style>${STYLE}</style><div class="all">
        <svg class="set" viewBox="0 0 ${SIDE + 2 * LEFT} ${BASE + 28}" role="group" aria-label="A source set in the triangle of distributions on three symbols">
          <polygon class="edge" points="${line([[1, 0, 0], [0, 1, 0], [0, 0, 1]])}"/>
          ${walls.map(w => `<polyline class="wall" points="${line(w)}"/>`).join("")}
          <polygon class="whole"/>
          <text x="${LEFT - 6}" y="${BASE + 20}">1</text><text x="${LEFT + SIDE}" y="${BASE + 20}">2</text><text x="${LEFT + SIDE / 2}" y="${TOP - 10}">3</text>
          ${this.vertices.map((_, k) => `<g class="vertex" tabindex="0" role="slider" aria-label="vertex ${k + 1}, moved by the arrow keys"
            aria-valuemin="0" aria-valuemax="1"><circle class="halo" r="12"/><circle r="5"/></g>`).join("")}
        </svg>
        <svg viewBox="0 0 ${SIDE + 2 * LEFT} ${BASE + 28}" role="img" aria-label="The pieces of the set folded into one chamber">
          <polygon class="edge" points="${line(chamber, beside)}"/><g class="folded"></g>
          <text x="${LEFT - 4}" y="${BASE + 20}">1</text><text x="${LEFT + SIDE - 16}" y="${BASE + 20}">1 and 2 even</text>
          <text x="${beside(chamber[2])[0] - 10}" y="${beside(chamber[2])[1] - 10}">all even</text>
        </svg><p aria-live="polite"></p></div>`;
      this.listen(root.querySelector(".set"), [...root.querySelectorAll(".vertex")]);
      this.draw();
    }

    listen(svg, vertices) {
      const at = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const move = (k, x, y) => { this.vertices[k] = belief(x, y); this.draw(); };
      let held = 0;
      svg.addEventListener("pointerdown", event => {
        const point = at(event), far = this.vertices.map(place).map(([x, y]) => Math.hypot(x - point.x, y - point.y));
        held = far.indexOf(Math.min(...far));
        svg.setPointerCapture(event.pointerId);
        vertices[held].focus();
        move(held, point.x, point.y);
        event.preventDefault();
      });
      svg.addEventListener("pointermove", event => {
        if (!svg.hasPointerCapture(event.pointerId)) return;
        const point = at(event);
        move(held, point.x, point.y);
      });
      const steps = {ArrowLeft: [-3, 0], ArrowRight: [3, 0], ArrowUp: [0, -3], ArrowDown: [0, 3]};
      vertices.forEach((vertex, k) => vertex.addEventListener("keydown", event => {
        const step = steps[event.key];
        if (!step) return;
        const [x, y] = place(this.vertices[k]);
        move(k, x + step[0], y + step[1]);
        event.preventDefault();
      }));
    }

    draw() {
      const root = this.shadowRoot, found = fold(this.vertices);
      root.querySelector(".whole").setAttribute("points", line(found.whole));
      root.querySelectorAll(".vertex").forEach((vertex, k) => {
        const q = this.vertices[k];
        vertex.setAttribute("transform", `translate(${place(q).join(" ")})`);
        vertex.setAttribute("aria-valuenow", q[0].toFixed(3));
        vertex.setAttribute("aria-valuetext", q.map(v => v.toFixed(3)).join(", "));
      });
      root.querySelector(".folded").innerHTML =
        found.pieces.map(one => `<polygon class="piece" points="${line(one.folded, beside)}"/>`).join("") +
        `<polygon class="shared" points="${line(found.shared, beside)}"/>`;
      const orders = found.pieces.map(one => one.order).join(", ");
      const common = found.area > 1e-9 ? "The folded pieces share the dark part." : "The folded pieces have no part in common.";
      root.querySelector("p").textContent = !found.pieces.length ? "The set has no area: pull its vertices apart." : `Class ${found.kind}. Orders that occur: ${orders}. ${common}`;
    }
  }
  customElements.define("pml-source-set", SourceSet);
})();
