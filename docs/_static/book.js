// Docstrings and long exported cells fold, so that a chapter reads as a chapter; a click or a key opens them.
document.addEventListener("DOMContentLoaded", () => {
  const LONG = 24; // lines of code that are shown before a cell folds

  function button(text, what) {
    const made = Object.assign(document.createElement("button"), {className: "unfold", type: "button", textContent: text});
    made.setAttribute("aria-expanded", "false");
    made.setAttribute("aria-label", what);
    return made;
  }

  // Folded text keeps its place in the selection: what is copied is always the whole cell.
  function fold(nodes, opener) {
    const rest = Object.assign(document.createElement("span"), {className: "folded"});
    nodes[0].before(rest);
    rest.append(...nodes);
    rest.before(opener);
    opener.addEventListener("click", () => {
      const open = rest.classList.toggle("folded") === false;
      opener.setAttribute("aria-expanded", String(open));
    });
  }

  // The nodes between the end of a docstring's first line and its closing quotes.
  function docstrings(pre) {
    const runs = [];
    let run = [];
    for (const node of [...pre.childNodes, null]) {
      const blank = node && node.nodeType === Node.TEXT_NODE && !node.textContent.trim();
      if (node && node.classList?.contains("sd")) run.push(node);
      else if (run.length && blank) run.push(node);
      else if (run.length) { runs.push(run); run = []; }
    }
    return runs.map(nodes => {
      while (nodes.at(-1).nodeType === Node.TEXT_NODE) nodes.pop();
      return nodes.slice(1);
    }).filter(nodes => nodes.map(n => n.textContent).join("").split("\n").length > 2);
  }

  document.querySelectorAll("div.highlight pre").forEach(pre => {
    docstrings(pre).forEach(nodes => fold(nodes, button("…", "the rest of the docstring")));
  });

  document.querySelectorAll(".tag_pml-export div.highlight pre").forEach(pre => {
    const shown = [...pre.childNodes].filter(n => !n.classList?.contains("folded"));
    const lines = shown.map(n => n.textContent).join("").split("\n").length;
    if (lines <= LONG) return;
    const cell = pre.closest("div.highlight"), opener = button(`all ${lines} lines`, `show all ${lines} lines of this cell`);
    opener.classList.add("whole");
    cell.classList.add("clipped");
    cell.after(opener);
    opener.addEventListener("click", () => {
      const clipped = cell.classList.toggle("clipped");
      opener.setAttribute("aria-expanded", String(!clipped));
      opener.textContent = clipped ? `all ${lines} lines` : "fewer lines";
    });
  });
});
