// The search page: Pagefind's index, asked at each pause in typing. A page opened from disk may not
// fetch, so there the same files come as one script, `pagefind/packed.js`, and answer in fetch's place.
(async () => {
  const SHOWN = 12, ENOUGH = 3;
  const words = document.getElementById("words"), found = document.getElementById("found"), list = document.getElementById("results");
  const bundle = new URL("pagefind/", location.href).href, root = new URL("./", location.href);

  function bytes(text) { return Uint8Array.from(atob(text), c => c.charCodeAt(0)); }

  // Pagefind from the packed files: its module from a blob, its data through a fetch that looks there first.
  async function unpacked() {
    await new Promise((done, failed) => document.head.append(Object.assign(document.createElement("script"), {src: bundle + "packed.js", onload: done, onerror: failed})));
    const files = window.pagefindFiles, outside = window.fetch;
    window.fetch = (address, options) => {
      const name = String(address).split("pagefind/").at(-1).split("?")[0];
      return name in files ? Promise.resolve(new Response(bytes(files[name]))) : outside(address, options);
    };
    return import(URL.createObjectURL(new Blob([bytes(files["pagefind.js"])], {type: "text/javascript"})));
  }

  function entry(address, title) {
    const made = document.createElement("li"), link = document.createElement("a");
    link.href = new URL(address, root).href;
    link.textContent = title;
    made.append(link);
    return made;
  }

  function item(data) {
    const made = entry(data.raw_url.replace(/^\//, "").replace(/\/$/, "/index.html"), data.meta.title.replace(/#$/, ""));
    const text = document.createElement("p");
    text.innerHTML = data.excerpt; // Pagefind's own markup: escaped text with <mark>
    made.append(text);
    return made;
  }

  function wordsOf(text) { return text.toLowerCase().split(/[^\p{L}\p{N}.]+/u).map(word => word.replace(/\.+$/, "")).filter(Boolean); }

  // A box that carries all the words, such as 'theorem 3 grosse', is the answer itself.
  function named(boxes, question) {
    const asked = wordsOf(question);
    return boxes.filter(([, title]) => { const has = new Set(wordsOf(title)); return asked.every(word => has.has(word)); });
  }

  const PLAIN = new Set("a an and are at be by can do does for from how i in into is it many me my of on one or that the to we what when which who whose why with".split(" "));

  // Pages with all words first; where these are few, pages with some of them, best first.
  async function matches(pagefind, question) {
    const words = wordsOf(question);
    const telling = words.filter(word => !PLAIN.has(word)), single = telling.length ? telling : words;
    const whole = (await pagefind.search(single.join(" "))).results;
    if (whole.length >= ENOUGH) return whole;
    const scores = new Map();
    for (const word of single) {
      for (const result of (await pagefind.search(word)).results) {
        const so_far = scores.get(result.id) ?? {result, words: 0, score: 0};
        scores.set(result.id, {result, words: so_far.words + 1, score: so_far.score + result.score});
      }
    }
    const partly = [...scores.values()].sort((a, b) => b.words - a.words || b.score - a.score).map(entry => entry.result);
    const known = new Set(whole.map(result => result.id));
    return [...whole, ...partly.filter(result => !known.has(result.id))];
  }

  let asked = 0;
  async function ask(pagefind, boxes) {
    const question = words.value.trim(), mine = ++asked;
    history.replaceState(null, "", question ? `?q=${encodeURIComponent(question)}` : location.pathname);
    if (!question) { found.textContent = ""; list.replaceChildren(); return; }
    const results = await matches(pagefind, question);
    const pages = await Promise.all(results.slice(0, SHOWN).map(result => result.data()));
    if (mine !== asked) return;
    const direct = question.split(/\s+/).length > 1 ? named(boxes, question).slice(0, ENOUGH) : [];
    list.replaceChildren(...direct.map(([address, title]) => entry(address, title)), ...pages.map(item));
    const count = results.length;
    found.textContent = count === 0 ? `Nothing about “${question}”.` : count > SHOWN ? `The best ${SHOWN} of ${count} pages` : `${count} ${count === 1 ? "page" : "pages"}`;
    list.dataset.question = question;
  }

  words.value = new URLSearchParams(location.search).get("q") ?? "";
  words.focus();
  const pagefind = location.protocol === "file:" ? await unpacked() : await import(bundle + "pagefind.js");
  await pagefind.options({basePath: bundle, noWorker: true, ranking: {pageLength: 0.4, termFrequency: 0.6, termSaturation: 1.2}});
  await pagefind.init();
  const boxes = await (await fetch(bundle + "boxes.json")).json();
  let pause = 0;
  words.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => ask(pagefind, boxes), 150); });
  document.getElementById("find").addEventListener("submit", event => { event.preventDefault(); ask(pagefind, boxes); });
  await ask(pagefind, boxes);
})();
