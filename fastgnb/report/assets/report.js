(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (name, attributes = {}, text = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  // ---- theme: that of the system, until the button says otherwise
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const store = (value) => {
    try {
      if (value) localStorage.setItem("fastgnb-theme", value);
      return localStorage.getItem("fastgnb-theme");
    } catch { return null; } // pages without storage, such as some of files
  };
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const showTheme = () => button.setAttribute("aria-pressed", String(isDark()));
  const kept = store();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store(root.dataset.theme);
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  // ---- pictures wider than a small screen: the keyboard scrolls them, too
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const scrolls = target.scrollWidth > target.clientWidth;
      const title = target.querySelector("title").textContent;
      const wanted = { tabindex: "0", role: "region", "aria-label": `Picture: ${title}` };
      for (const [name, text] of Object.entries(wanted)) {
        if (scrolls) target.setAttribute(name, text);
        else target.removeAttribute(name);
      }
    }
  });
  for (const picture of all(".picture")) watch.observe(picture);

  // ---- tables: a click on a column's name sorts by it, a second one the other way round
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    if (text === "–") return NaN;
    const plain = text.replace(/,/g, "").replace("−", "-").replace("∞", "Infinity").replace("%", "");
    return plain === "" || Number.isNaN(Number(plain)) ? text : Number(plain);
  };
  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => {
    const known = [a, b].map((x) => typeof x === "string" || !Number.isNaN(x));
    if (!known[0] || !known[1]) return 0;
    if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
    return collator.compare(String(a), String(b));
  };
  const isUnknown = (x) => typeof x === "number" && Number.isNaN(x);
  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
    rows.sort(([a], [b]) =>
      isUnknown(a) || isUnknown(b) ? isUnknown(a) - isUnknown(b) : down ? compare(b, a) : compare(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const table of all("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const name = make("button", { type: "button" }, head.textContent);
      name.addEventListener("click", () => sort(table, head, column));
      head.replaceChildren(name);
    });
  }

  // ---- tables with a search field: rows that hold every word
  for (const table of all("table[data-filter]")) {
    const box = make("div", { class: "filter" });
    const label = make("label", { for: `${table.id}-filter` }, "Filter rows");
    const field = make("input", { type: "search", id: `${table.id}-filter`, autocomplete: "off" });
    const count = make("output", { for: field.id });
    const rows = [...table.tBodies[0].rows].map((row) =>
      [row, [...row.cells].map((cell) => cell.textContent).join("\t").toLowerCase()]);
    const filter = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [row, text] of rows) {
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = `${shown.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} rows`;
    };
    field.addEventListener("input", filter);
    box.append(label, field, count);
    table.closest(".scroll").before(box);
    filter();
  }

  // ---- rates at a cut-off, of exact counts
  const source = document.getElementById("cutoff-data");
  if (source) {
    const data = JSON.parse(source.textContent);
    const slider = document.getElementById("cutoff");
    const choice = document.getElementById("cutoff-class");
    const shown = document.getElementById("cutoff-value");
    const cells = Object.fromEntries(all("[data-cell]").map((cell) => [cell.dataset.cell, cell]));
    const ratio = (part, whole) => (whole > 0 ? part / whole : NaN);
    const count = (x) => { // as Python writes it: whole numbers with commas, others with 12 digits
      const near = Number(x.toPrecision(12));
      return Number.isInteger(near) && near < 1e15 ? near.toLocaleString("en-US") : String(near);
    };
    const rates = (tp, fp, positives, negatives) => {
      const fn = positives - tp, tn = negatives - fp;
      const root4 = Math.sqrt(tp + fp) * Math.sqrt(positives) * Math.sqrt(negatives) * Math.sqrt(tn + fn);
      return {
        tpr: ratio(tp, positives), fpr: ratio(fp, negatives), tnr: ratio(tn, negatives),
        fnr: ratio(fn, positives), ppv: ratio(tp, tp + fp), npv: ratio(tn, tn + fn),
        acc: ratio(tp + tn, positives + negatives), f1: ratio(2 * tp, 2 * tp + fp + fn),
        mcc: ratio(tp * tn - fp * fn, root4),
      };
    };
    const show = () => {
      const at = Number(slider.value), c = Number(choice.value);
      const [tp, fp] = [data.tp[c][at], data.fp[c][at]];
      const [positives, negatives] = [data.positives[c], data.negatives[c]];
      const text = data.thresholds[at].toFixed(2);
      shown.textContent = text;
      slider.setAttribute("aria-valuetext", `cut-off ${text}`);
      const counts = { tp, fp, fn: positives - tp, tn: negatives - fp };
      for (const [name, x] of Object.entries(counts)) cells[name].textContent = count(x);
      for (const [name, x] of Object.entries(rates(tp, fp, positives, negatives))) {
        cells[name].textContent = Number.isNaN(x) ? "–" : x.toFixed(4).replace("-", "−");
      }
    };
    slider.addEventListener("input", show);
    choice.addEventListener("change", show);
    document.getElementById("cutoff-controls").hidden = false;
    show();
  }
})();
