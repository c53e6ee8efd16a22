// Vega-Lite charts, drawn when they come near the screen, in the colours of the page.
const charts = new Map();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) {
        watcher.unobserve(target);
        draw(target);
      }
  },
  { rootMargin: "300px" },
);

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const palette = () => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => color(`c${i}`));
const shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];
const glyphs = "●■▲◆✚▼▶◀";

function config() {
  const text = color("text"), muted = color("muted"), font = "system-ui, sans-serif";
  return {
    background: "transparent", font, aria: false,
    view: { stroke: color("border") },
    axis: { labelColor: text, titleColor: muted, gridColor: color("grid"), domainColor: color("border"), tickColor: color("border"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" },
    legend: { labelColor: text, titleColor: muted, labelFontSize: 12, symbolSize: 80 },
    title: { color: text },
  };
}

async function draw(element) {
  const { make, view } = charts.get(element) ?? {};
  if (!make) return;
  view?.finalize();
  const options = { mode: "vega-lite", actions: false, ast: true, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true }, config: config() };
  try {
    const result = await vegaEmbed(element.querySelector(".plot"), { autosize: { type: "fit-x", contains: "padding" }, width: "container", ...make(element.clientWidth) }, options);
    if (charts.has(element)) charts.set(element, { make, view: result });
    for (const svg of element.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true"); // .plot has the label
    element.dataset.drawn = "true";
  } catch (error) {
    element.querySelector(".plot").replaceChildren(h("p", { class: "empty" }, `This chart cannot be drawn: ${error.message}. The table has its numbers.`));
  }
}

// Entries of a legend: a text, the number of its color, and its glyph.
const legend = (entries) => h("ul", { class: "legend" }, entries.map(([text, color, glyph]) => h("li", {}, h("span", { class: color, "aria-hidden": "true" }, glyph), text)));
const libraryLegend = (names) => legend(names.map((name) => [name, `c${libraryIndex(name)}`, glyphs[libraryIndex(name)]]));

// A figure with a caption; `make(width)` returns the specification.
function chart(caption, make, height, key = "") {
  const plot = h("div", { class: "plot", role: "img", "aria-label": `${caption} The table has the numbers.` });
  plot.style.minHeight = `${height}px`;
  const element = h("figure", {}, h("figcaption", {}, caption), key, plot);
  charts.set(element, { make });
  watcher.observe(element);
  return element;
}

function forgetCharts() {
  for (const [element, { view }] of charts) {
    watcher.unobserve(element);
    view?.finalize();
  }
  charts.clear();
}

const redraw = () => [...charts.keys()].filter((element) => element.dataset.drawn).forEach(draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
let resizing;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(redraw, 150);
});

// On a narrow screen labels have lines of few letters, broken after commas.
const isNarrow = (width) => width < 500;
const rowHeight = (width) => (isNarrow(width) ? 36 : 24);
function withRows(points, width) {
  if (!isNarrow(width)) return points.map((point) => ({ ...point, row: point.label }));
  const broken = (label) =>
    label.split(", ").reduce((lines, part) => {
      const joined = `${lines.at(-1)}, ${part}`;
      return lines.length && joined.length < 27 ? [...lines.slice(0, -1), joined] : [...lines, part];
    }, []);
  const inTwo = ([first, ...rest]) => (rest.length ? `${first}|${rest.join(", ")}` : first);
  return points.map((point) => ({ ...point, row: inTwo(broken(point.label)) }));
}
const rowAxis = (width) => ({ title: null, labelExpr: "split(datum.label, '|')", labelFontSize: isNarrow(width) ? 11 : 12, labelLimit: Math.max(170, Math.min(330, width * 0.42)), labelPadding: 6, grid: true, ticks: false });
const rowOf = (width) => ({ field: "row", type: "nominal", sort: null, axis: rowAxis(width) });

// Points of ratios on a logarithmic axis, one row a label, with a bar of noise.
function ratioChart(points, width, title = "times as fast as the library") {
  const names = unique(points.map((point) => point.library));
  const low = Math.min(0.8, ...points.map((point) => point.low)), high = Math.max(1.25, ...points.map((point) => point.high));
  const y = rowOf(width);
  const scale = { type: "log", domain: [low / 1.1, high * 1.1], nice: false };
  const ticks = [0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000].filter((x) => x > low / 1.1 && x < high * 1.1);
  const values = isNarrow(width) ? ticks.filter((x) => Number.isInteger(Math.log10(x)) || ticks.length < 7) : ticks;
  const axis = { title, orient: "top", values: values.length > 1 ? values : ticks, format: ",~g" };
  const domain = { domain: names, range: names.map((name) => palette()[libraryIndex(name)]) };
  return {
    data: { values: withRows(points, width) },
    height: rowHeight(width) * unique(points.map((point) => point.label)).length,
    layer: [
      { data: { values: [{}] }, mark: { type: "rect", color: color("loss"), opacity: 0.09 }, encoding: { x: { datum: low / 1.1, type: "quantitative", scale, axis }, x2: { datum: 1 } } },
      { data: { values: [{}] }, mark: { type: "rule", color: color("text"), strokeWidth: 1.5 }, encoding: { x: { datum: 1, type: "quantitative" } } },
      { mark: { type: "rule", strokeWidth: 2, opacity: 0.55 }, encoding: { y, x: { field: "low", type: "quantitative", scale, axis }, x2: { field: "high" }, color: { field: "library", scale: domain, legend: null } } },
      {
        mark: { type: "point", filled: true, size: 75, opacity: 1, stroke: color("background"), strokeWidth: 1 },
        encoding: {
          y, x: { field: "ratio", type: "quantitative", scale, axis },
          color: { field: "library", scale: domain, legend: null },
          shape: { field: "library", scale: { domain: names, range: names.map((name) => shapes[libraryIndex(name)]) }, legend: null },
          tooltip: [{ field: "label", title: "task" }, { field: "library", title: "beside" }, { field: "text", title: "times as fast" }, { field: "run", title: "run" }],
        },
      },
    ],
  };
}
const libraryIndex = (name) => data.libraries.findIndex((library) => library.name === name) % 8;

// Bars of shares of a limit.
function shareChart(points, width) {
  const y = rowOf(width);
  return {
    data: { values: withRows(points, width) },
    height: rowHeight(width) * unique(points.map((point) => point.label)).length,
    layer: [
      {
        mark: { type: "bar", color: color("c0"), height: 12 },
        encoding: {
          y, x: { field: "ratio", type: "quantitative", scale: { domain: [0, Math.max(1, ...points.map((point) => point.ratio))] }, axis: { title: "share of the limit", orient: "top", format: ".0%", tickCount: isNarrow(width) ? 3 : 6 } },
          tooltip: [{ field: "label", title: "task" }, { field: "library", title: "limit" }, { field: "text", title: "share" }, { field: "run", title: "run" }],
        },
      },
      { data: { values: [{}] }, mark: { type: "rule", color: color("text"), strokeWidth: 1.5 }, encoding: { x: { datum: 1, type: "quantitative" } } },
    ],
  };
}
