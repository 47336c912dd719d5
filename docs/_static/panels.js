// On a phone the panels of a figure stand one below the other, each as wide as the page, and no text is too small to read.
(() => {
  const NARROW = matchMedia("(max-width: 600px)"), GAP = 14, SLENDER = 0.2, LEAST = 9; // a slender axis is the colour bar of the panel before it

  // Where a group of Matplotlib's drawing stands, in the drawing's own units; what is clipped may reach further.
  function extent(group, frame, scale) {
    const drawn = [...group.querySelectorAll("path, text, use, image")].filter(e => !e.closest("defs"));
    const shown = drawn.filter(e => !e.closest("[clip-path]"));
    const boxes = (shown.length ? shown : drawn).map(e => e.getBoundingClientRect()).filter(b => b.width + b.height > 0);
    const least = side => Math.min(...boxes.map(b => b[side])), most = side => Math.max(...boxes.map(b => b[side]));
    return {group, left: (least("left") - frame.left) * scale, right: (most("right") - frame.left) * scale,
            top: (least("top") - frame.top) * scale, bottom: (most("bottom") - frame.top) * scale};
  }

  // Columns of panels from left to right; what spans several of them makes them one.
  function columns(panels, width) {
    const found = [];
    for (const panel of [...panels].sort((a, b) => a.left - b.left)) {
      const last = found.at(-1);
      if (last && (panel.left < last.right - GAP || panel.right - panel.left < SLENDER * width)) {
        last.panels.push(panel);
        for (const [side, pick] of [["right", Math.max], ["top", Math.min], ["bottom", Math.max]]) last[side] = pick(last[side], panel[side]);
      } else found.push({...panel, panels: [panel]});
    }
    return found;
  }

  // Ticks along one upright line: a panel's vertical axis.
  const upright = panel => [...panel.children].map(g => ({g, ticks: [...g.querySelectorAll("use")], words: [...g.querySelectorAll("text")]}))
    .find(({ticks}) => ticks.length > 1 && ticks.every(t => t.getAttribute("x") === ticks[0].getAttribute("x")));
  const heights = axis => axis.ticks.map(t => t.getAttribute("y")).join();

  // Panels that share an axis have its words once, beside the first; below one another each needs them.
  function lend(panels) {
    const axes = panels.map(upright).filter(Boolean);
    for (const axis of axes) {
      const full = axes.find(a => a.words.length >= a.ticks.length && heights(a) === heights(axis));
      if (!full || axis.words.length >= axis.ticks.length) continue;
      const across = axis.ticks[0].getAttribute("x") - full.ticks[0].getAttribute("x");
      for (const word of full.words.slice(0, axis.words.length ? full.ticks.length : undefined)) {
        const lent = document.createElementNS(word.namespaceURI, "g");
        lent.setAttribute("transform", `translate(${across} 0)`);
        lent.setAttribute("class", "lent");
        lent.append(word.cloneNode(true));
        axis.g.append(lent);
      }
    }
  }

  function stack(svg) {
    const frame = svg.getBoundingClientRect(), drawn = svg.querySelector(":scope > g");
    if (svg.wide || !frame.width || !drawn) return;
    const box = svg.viewBox.baseVal, scale = box.width / frame.width;
    const groups = [...drawn.children].filter(g => g.children.length > 1 || g.querySelector("text")); // all but the ground
    const apart = columns(groups.map(g => extent(g, frame, scale)), box.width);
    if (apart.length < 2) return;
    lend(groups);
    const found = apart.map(({panels}) => {
      const now = panels.map(({group}) => extent(group, frame, scale));
      const ends = (side, pick) => pick(...now.map(panel => panel[side]));
      return {panels: now, left: ends("left", Math.min), right: ends("right", Math.max), top: ends("top", Math.min), bottom: ends("bottom", Math.max)};
    });
    svg.wide = svg.getAttribute("viewBox");
    let down = 0;
    for (const column of found) {
      for (const {group} of column.panels) group.setAttribute("transform", `translate(${-column.left} ${down - column.top})`);
      down += column.bottom - column.top + GAP;
    }
    svg.setAttribute("viewBox", `0 0 ${Math.max(...found.map(c => c.right - c.left))} ${down}`);
  }

  // Words that came out smaller than `LEAST` pixels are set at that size, and the drawing is widened by what they need.
  function enlarge(svg, again = true) {
    const box = svg.viewBox.baseVal, scale = svg.getBoundingClientRect().width / box.width;
    if (!scale) return;
    const words = [...svg.querySelectorAll("text, tspan")].map(e => [e, parseFloat(getComputedStyle(e).fontSize)]);
    for (const [element, size] of words) if (size * scale < LEAST) element.style.fontSize = `${LEAST / scale}px`;
    const beyond = Math.max(...words.map(([element]) => element.getBoundingClientRect().right)) - svg.getBoundingClientRect().right;
    if (!again || beyond < 1) return;
    svg.wide ??= svg.getAttribute("viewBox");
    svg.setAttribute("viewBox", `0 0 ${box.width + beyond / scale} ${box.height}`);
    enlarge(svg, false);
  }

  function restore(svg) {
    if (!svg.wide) return;
    svg.setAttribute("viewBox", svg.wide);
    for (const group of svg.querySelector(":scope > g").children) group.removeAttribute("transform");
    svg.querySelectorAll(".lent").forEach(word => word.remove());
    delete svg.wide;
  }

  const lay = () => document.querySelectorAll(".pml-figure").forEach(svg => {
    if (!NARROW.matches) return restore(svg);
    stack(svg);
    enlarge(svg);
  });
  addEventListener("load", () => {
    lay();
    NARROW.addEventListener("change", lay);
    document.addEventListener("toggle", lay, true); // what is folded has no size
    const moved = new MutationObserver(lay);
    document.querySelectorAll(".pml-explore .frame").forEach(frame => moved.observe(frame, {childList: true}));
  });
})();
