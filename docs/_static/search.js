// The search page: Pagefind's index, asked at each pause in typing. A page opened from disk may not
// fetch, so there the same files come as one script, `pagefind/packed.js`, and answer in fetch's place.
(async () => {
  const SHOWN = 12, ENOUGH = 3, INTERNALS = 0.4; // what a match in the machinery counts beside one in the book
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

  // Whether a word becomes another by one slip: a letter too few, too many, wrong, or two in the wrong order.
  function slip(typed, meant) {
    if (Math.abs(typed.length - meant.length) > 1) return false;
    let from = 0, back = 0;
    while (from < typed.length && typed[from] === meant[from]) from++;
    while (back < Math.min(typed.length, meant.length) - from && typed.at(-1 - back) === meant.at(-1 - back)) back++;
    const [one, other] = [typed, meant].map(word => word.slice(from, word.length - back));
    return one.length <= 1 && other.length <= 1 || one.length === 2 && one === other[1] + other[0];
  }

  function means(typed, meant) { return typed === meant || typed === meant + "s" || meant.length > 4 && slip(typed, meant); }

  // Pages that are asked for in words that they do not use; of several, the one with most words.
  function aliased(aliases, question) {
    const asked = wordsOf(question);
    const fits = aliases.filter(([words]) => wordsOf(words).every(meant => asked.some(typed => means(typed, meant))));
    return fits.sort((a, b) => b[0].length - a[0].length).map(([, address, title]) => [address, title]);
  }

  // The word as it is, or the known one that it was meant to be.
  async function corrected(pagefind, known, word) {
    const exact = (await pagefind.search(`"${word}"`)).results; // without quotes Pagefind takes a beginning for the word
    return exact.length ? word : known.find(meant => meant.length > 4 && slip(word, meant)) ?? word;
  }

  const PLAIN = new Set("a an and are at be by can do does for from how i in into is it many me my of on one or that the to we what when which who whose why with".split(" "));

  // Pages with all words first; where these are few, pages with some of them, best first; the book before its machinery.
  async function matches(pagefind, known, question) {
    const words = wordsOf(question), telling = words.filter(word => !PLAIN.has(word));
    const single = await Promise.all((telling.length ? telling : words).map(word => corrected(pagefind, known, word)));
    const scores = new Map();
    const add = (result, words) => {
      const so_far = scores.get(result.id) ?? {result, words: 0, score: 0};
      scores.set(result.id, {result, words: so_far.words + words, score: so_far.score + result.score});
    };
    (await pagefind.search(single.join(" "))).results.forEach(result => add(result, single.length));
    if (scores.size < ENOUGH) {
      const whole = new Set(scores.keys());
      for (const word of single) {
        for (const result of (await pagefind.search(word)).results) if (!whole.has(result.id)) add(result, 1);
      }
    }
    const best = (a, b) => b.words - a.words || b.score - a.score;
    const first = [...scores.values()].sort(best).slice(0, 2 * SHOWN);
    const pages = await Promise.all(first.map(async entry => ({...entry, data: await entry.result.data()})));
    for (const page of pages) if (page.data.raw_url.includes("/internals/")) page.score *= INTERNALS;
    return {count: scores.size, pages: pages.sort(best).slice(0, SHOWN).map(page => page.data)};
  }

  let asked = 0;
  async function ask(pagefind, boxes, aliases) {
    const question = words.value.trim(), mine = ++asked;
    history.replaceState(null, "", question ? `?q=${encodeURIComponent(question)}` : location.pathname);
    if (!question) { found.textContent = ""; list.replaceChildren(); return; }
    const known = [...new Set([...boxes, ...aliases].flatMap(row => row.flatMap(wordsOf)))];
    const {count, pages} = await matches(pagefind, known, question);
    if (mine !== asked) return;
    const boxed = question.split(/\s+/).length > 1 ? named(boxes, question) : [];
    const direct = new Map([...aliased(aliases, question).slice(0, 2), ...boxed].slice(0, ENOUGH));
    list.replaceChildren(...[...direct].map(([address, title]) => entry(address, title)), ...pages.map(item));
    found.textContent = count === 0 ? `Nothing about “${question}”.` : count > SHOWN ? `The best ${SHOWN} of ${count} pages` : `${count} ${count === 1 ? "page" : "pages"}`;
    list.dataset.question = question;
  }

  words.value = new URLSearchParams(location.search).get("q") ?? "";
  words.focus();
  const pagefind = location.protocol === "file:" ? await unpacked() : await import(bundle + "pagefind.js");
  await pagefind.options({basePath: bundle, noWorker: true, ranking: {pageLength: 0.4, termFrequency: 0.6, termSaturation: 1.2}});
  await pagefind.init();
  const [boxes, aliases] = await Promise.all(["boxes", "aliases"].map(async name => (await fetch(`${bundle}${name}.json`)).json()));
  let pause = 0;
  words.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => ask(pagefind, boxes, aliases), 150); });
  document.getElementById("find").addEventListener("submit", event => { event.preventDefault(); ask(pagefind, boxes, aliases); });
  await ask(pagefind, boxes, aliases);
})();
