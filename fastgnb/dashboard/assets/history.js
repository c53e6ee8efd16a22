// How ratios change from run to run: a line a problem, with its band of noise.
const MOST_PANELS = 24;
const MOST_POINTS = 60; // from which only marked points are drawn on the line

function historyView() {
  const lines = historyLines(selected(filters.map((filter) => filter.name).filter((filter) => filter !== "run")));
  const shown = lines.slice(0, MOST_PANELS);
  const marked = lines.reduce((sum, line) => sum + line.points.filter((point) => point.change?.direction).length, 0);
  const status = h("p", { role: "status", class: "status" }, `${plural(lines.length, "line")}; ${plural(marked, "change")} beyond the noise.${lines.length > shown.length ? ` The first ${shown.length} are drawn; the tables have all. Filters narrow them.` : ""}`);
  const parts = [
    h("h1", {}, "History"),
    h("p", { class: "lead" }, "Ratios of successive runs of one machine; up is better. The band is the noise, ", `${data.limit} standard deviations wide on each side. `, h("strong", { class: "gain" }, "▲"), " and ", h("strong", { class: "loss" }, "▼"), " mark changes beyond it. A dashed line passes over runs without the figure. Ratios of a single run have no line."),
    filterBar({ without: ["run"] }), status,
  ];
  if (!lines.length) return [...parts, nothing(data.runs.length < 2 ? "There is one run only, so there is no history." : "No two runs of a machine have a comparison that fits these filters.")];
  return [...parts, h("div", { class: "panels" }, shown.map(panel)), historyTable(lines), folded("Every point of these lines", () => pointTable(lines))];
}

// One line for each task, library and machine that at least two runs have.
function historyLines(comparisons) {
  const groups = new Map();
  for (const c of comparisons) {
    const key = `${c.key}|${c.run.machine}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(c);
  }
  return [...groups.values()].filter((group) => group.length > 1).sort(([a], [b]) => byTask(a, b)).map((group) => {
    const points = group.map((c, i) => ({ c, change: i ? change(group[i - 1], c) : null, missed: i ? missedBetween(group[i - 1].run, c.run) : 0 }));
    return { task: group[0].task, library: group[0].library, machine: group[0].run.machine, points };
  });
}

const missedBetween = (a, b) => data.runs.slice(a.index + 1, b.index).filter((run) => run.machine === b.machine && run.size === b.size).length;
const lineName = (line) => `${line.task.operation}, ${name(line.task)}`;
const shortDate = (run) => run.date.slice(0, 10);

function panel(line) {
  const last = line.points.at(-1);
  const beside = line.library.kind === "limit" ? `share of ${line.library.name}` : `beside ${line.library.name}`;
  const caption = `${lineName(line)}, ${beside}: ${line.points.length} runs, now ${quotient(last.c)}.`;
  const figure = chart(caption, () => panelChart(line), 130);
  figure.classList.add("panel");
  figure.querySelector("figcaption").replaceChildren(h("b", {}, lineName(line)), h("br"), `${beside}, now ${quotient(last.c)}`);
  return figure;
}

function panelChart(line) {
  const points = line.points.map(({ c, change }) => {
    const width = Math.exp(data.limit * (c.noise ?? 0));
    return {
      x: c.run.index, ratio: c.ratio, low: c.ratio / width, high: c.ratio * width, text: `${quotient(c)} ${plusMinus(c.noise)}`, run: c.run.label, commit: c.run.commitName,
      mark: ["worse", "within", "better"][(change?.direction ?? 0) + 1], by: change ? times(change.factor) : "",
      area: change?.direction ? 110 : 40,
    };
  });
  const lines = partsOf(points, line.points.map((point) => point.missed > 0));
  const drawn = points.length > MOST_POINTS ? points.filter((point) => point.mark !== "within") : points;
  const spread = [Math.min(...points.map((p) => p.low)), Math.max(...points.map((p) => p.high))];
  const x = { field: "x", type: "quantitative", scale: { domain: [points[0].x, points.at(-1).x], nice: false }, axis: { title: null, values: unique([points[0].x, points.at(-1).x]), labelExpr: labelOfRun(points), grid: false, labelFlush: true } };
  const y = { type: "quantitative", scale: { type: "log", domain: spread, nice: false }, axis: { title: null, tickCount: 4, format: "~g", values: niceTicks(...spread) } };
  return {
    data: { values: points },
    height: 110,
    layer: [
      { mark: { type: "area", color: color("c0"), opacity: 0.15 }, encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" } } },
      { data: { values: lines }, mark: { type: "line", color: color("c0"), strokeWidth: points.length > MOST_POINTS ? 1.25 : 2 }, encoding: { x, y: { ...y, field: "ratio" }, detail: { field: "part" }, strokeDash: { field: "missing", scale: { domain: [false, true], range: [[1, 0], [4, 4]] }, legend: null } } },
      {
        data: { values: drawn },
        mark: { type: "point", filled: true, opacity: 1, stroke: color("background"), strokeWidth: 0.5 },
        encoding: {
          x, y: { ...y, field: "ratio" },
          shape: { field: "mark", scale: { domain: ["worse", "within", "better"], range: ["triangle-down", "circle", "triangle-up"] }, legend: null },
          color: { field: "mark", scale: { domain: ["worse", "within", "better"], range: [color("loss"), color("c0"), color("gain")] }, legend: null },
          size: { field: "area", type: "quantitative", scale: null },
          tooltip: [{ field: "text", title: "times as fast" }, { field: "run", title: "run" }, { field: "commit", title: "commit" }, { field: "by", title: "of the run before" }],
        },
      },
    ],
  };
}

// Lines between runs that follow each other, and two-point lines over runs that lack the figure.
function partsOf(points, isMissing) {
  const rows = [];
  let part = 0;
  points.forEach(({ x, ratio }, i) => {
    if (isMissing[i]) {
      for (const end of [points[i - 1], points[i]]) rows.push({ x: end.x, ratio: end.ratio, part: part + 1, missing: true });
      part += 2;
    }
    rows.push({ x, ratio, part, missing: false });
  });
  return rows;
}

const labelOfRun = (points) => {
  const first = data.runs[points[0].x], last = data.runs[points.at(-1).x];
  const [a, b] = shortDate(first) === shortDate(last) ? [first.date.slice(11, 16), last.date.slice(11, 16)] : [shortDate(first), shortDate(last)];
  return `datum.value == ${first.index} ? '${a}' : '${b}'`;
};

// Round numbers within a range: steps of one size, or of one factor where the range is wide.
function niceTicks(low, high, most = 4) {
  const within = (ticks) => ticks.filter((tick) => tick >= low && tick <= high);
  if (high / low > 5) {
    const powers = Array.from({ length: 40 }, (_, i) => i - 20);
    const steps = [[1, 2, 5], [1, 3], [1]].map((digits) => within(powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))));
    return steps.find((ticks) => ticks.length <= most) ?? steps[2];
  }
  const unit = 10 ** Math.floor(Math.log10(high - low));
  for (const step of [0.2, 0.25, 0.5, 1, 2, 5].map((factor) => factor * unit)) {
    const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
    if (count <= most) return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(6)));
  }
  return [];
}

function historyTable(lines) {
  const columns = [
    { key: "what", label: "What", value: lineName },
    { key: "beside", label: "Beside", value: (line) => line.library.name },
    { key: "runs", label: "Runs", numeric: true, value: (line) => line.points.length },
    { key: "first", label: "First", numeric: true, value: (line) => line.points[0].c.ratio, cell: (line) => quotient(line.points[0].c) },
    { key: "before", label: "Before", numeric: true, value: (line) => line.points.at(-2).c.ratio, cell: (line) => quotient(line.points.at(-2).c) },
    { key: "now", label: "Now", numeric: true, value: (line) => line.points.at(-1).c.ratio, cell: (line) => ratioCell(line.points.at(-1).c) },
    { key: "change", label: "Change", numeric: true, value: (line) => line.points.at(-1).change.factor, cell: (line) => delta(line.points.at(-1).change.factor) },
    { key: "verdict", label: "Last change", value: (line) => line.points.at(-1).change.direction, cell: (line) => directionCell(line.points.at(-1).change) },
    { key: "marked", label: "Beyond noise", numeric: true, value: (line) => line.points.filter((point) => point.change?.direction).length },
  ];
  return table({ id: "lines", caption: "Lines, with their last change", columns, rows: lines });
}

function pointTable(lines) {
  const rows = lines.flatMap((line) => line.points.map((point) => ({ line, ...point })));
  const columns = [
    { key: "what", label: "What", value: (row) => lineName(row.line) },
    { key: "beside", label: "Beside", value: (row) => row.line.library.name },
    { key: "run", label: "Run", value: (row) => row.c.run.date, cell: (row) => h("a", { href: linkTo("run", { run: row.c.run.name }) }, row.c.run.label) },
    { key: "ratio", label: "Ratio", numeric: true, value: (row) => row.c.ratio, cell: (row) => ratioCell(row.c) },
    { key: "missed", label: "Runs missed", numeric: true, value: (row) => row.missed },
    { key: "change", label: "Change", numeric: true, value: (row) => row.change?.factor, cell: (row) => (row.change ? delta(row.change.factor) : "") },
    { key: "verdict", label: "Verdict", value: (row) => row.change?.direction, cell: (row) => (row.change ? directionCell(row.change) : "first") },
  ];
  return table({ id: "points", caption: "Every point of these lines", columns, rows });
}

const delta = (factor) => `${factor >= 1 ? "+" : "−"}${digits(100 * Math.abs(factor - 1), 2)}%`;
