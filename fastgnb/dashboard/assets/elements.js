// Elements, numbers as text, and tables that sort.
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const digits = (x, n = 3) =>
  Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(n)));
const times = (x) => `${digits(x)}×`;
const percent = (x) => `${digits(100 * x, 2)}%`;
const plusMinus = (noise) => (noise === null ? "±?" : `±${digits(100 * (Math.exp(noise) - 1), 2)}%`);
const scaled = (x, units) => {
  const [factor, unit] = units.find(([factor]) => x >= factor) ?? units.at(-1);
  return `${digits(x / factor)} ${unit}`;
};
const seconds = (x) => scaled(x, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]);
const bytes = (x) => scaled(x, [[2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
const speed = (figure) => (figure.rows && figure.unit === "s" ? scaled(figure.rows / figure.median, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]) : "");
const amount = (figure, value = figure.median) => ({ s: seconds, bytes })[figure.unit]?.(value) ?? value.toExponential(1);
const hidden = (text) => h("span", { class: "hidden" }, text);
const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// columns: {key, label, value: row => what to sort by, cell: row => what to show, numeric, text: may wrap}.
// Numbers sort from the largest at first. The order is in the address as id.column.direction.
function table({ id, caption, columns, rows, className = "" }) {
  const [of, key, direction] = state.get("sort").split(".");
  const column = of === id ? columns.find((column) => column.key === key) : undefined;
  if (column) {
    const value = (row) => column.value(row) ?? (column.numeric ? -Infinity : "");
    const sign = direction === "up" ? 1 : -1;
    rows = rows.map((row, i) => [row, value(row), i]);
    rows.sort(([, a, i], [, b, j]) => sign * (column.numeric ? a - b || 0 : String(a).localeCompare(String(b))) || i - j);
    rows = rows.map(([row]) => row);
  }
  const head = columns.map((item) => {
    const isSorted = item === column;
    const next = isSorted ? (direction === "up" ? "down" : "up") : item.numeric ? "down" : "up";
    const attributes = { scope: "col", class: item.numeric ? "number" : null };
    if (isSorted) attributes["aria-sort"] = direction === "up" ? "ascending" : "descending";
    const onclick = () => state.go({ sort: `${id}.${item.key}.${next}` });
    const mark = h("span", { class: "mark", "aria-hidden": "true" }, isSorted ? (direction === "up" ? "▲" : "▼") : "");
    return h("th", attributes, h("button", { type: "button", "data-key": `sort.${id}.${item.key}`, onclick }, item.label, mark));
  });
  const body = rows.map((row) =>
    h("tr", {}, columns.map((item, i) => h(i ? "td" : "th", { scope: i ? null : "row", class: item.numeric ? "number" : item.text ? "text" : null }, item.cell ? item.cell(row) : String(item.value(row) ?? "")))),
  );
  const content = h("table", { class: className }, h("caption", {}, caption), h("thead", {}, h("tr", {}, head)), h("tbody", {}, body));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, content);
}

// A table that is made when it is opened.
function folded(summary, make) {
  const details = h("details", { class: "folded" }, h("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make());
  });
  return details;
}

// Shares of limits as percentages.
const quotient = (c) => (c.library.kind === "limit" ? percent : times)(c.ratio);

// A ratio, marked where fastgnb is slower.
const ratioCell = (c) => {
  if (!c) return "";
  const noise = h("span", { class: "noise" }, plusMinus(c.noise));
  if (!isLoss(c)) return [quotient(c), noise];
  return [h("strong", { class: "loss" }, h("span", { "aria-hidden": "true" }, "▼ "), hidden("slower: "), times(c.ratio)), noise];
};
const shareCell = (c) => (c ? h("span", { class: "share" }, h("meter", { min: 0, max: 1, value: Math.min(c.ratio, 1), "aria-label": "share" }), percent(c.ratio)) : "");
const directionCell = ({ direction, limit }) => {
  if (limit === null) return "noise unknown";
  if (!direction) return "within noise";
  return direction > 0 ? h("strong", { class: "gain" }, "▲ better") : h("strong", { class: "loss" }, "▼ worse");
};
