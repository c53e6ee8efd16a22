// Two runs side by side, with changes against the noise.
const common = (a, b) => {
  const keys = new Set(a.comparisons.map((c) => c.key));
  return b.comparisons.filter((c) => keys.has(c.key)).length;
};

// The newest two runs of one machine that share most.
function defaultPair() {
  let best = [data.runs[0], latest], most = -1;
  for (const b of data.runs.slice(-20))
    for (const a of data.runs.slice(-20))
      if (a.index < b.index && a.machine === b.machine) {
        const shared = common(a, b);
        if (shared >= most) [best, most] = [[a, b], shared];
      }
  return best;
}

function compareView() {
  const [first, second] = defaultPair();
  const a = runNamed(state.get("a")) ?? first, b = runNamed(state.get("b")) ?? second;
  const options = [...data.runs].reverse().map((run) => [run.name, `${run.label}, ${run.commitName}`]);
  const swap = h("button", { type: "button", "data-key": "swap", onclick: () => state.go({ a: b.name, b: a.name }) }, "Swap");
  const before = new Map(a.comparisons.map((c) => [c.key, c]));
  const allowed = new Set(selected(filters.map((filter) => filter.name).filter((item) => item !== "run" && item !== "machine")));
  const rows = b.comparisons.filter((c) => before.has(c.key) && allowed.has(c)).map((c) => ({ before: before.get(c.key), after: c, task: c.task, library: c.library, ...change(before.get(c.key), c) }));
  const size = (row) => Math.abs(Math.log(row.factor)) / (row.limit === null ? 1 : Math.log(row.limit));
  rows.sort((x, y) => size(y) - size(x) || byTask(x, y));
  const count = (direction) => rows.filter((row) => row.direction === direction).length;
  const parts = [
    h("h1", {}, "Two runs side by side"),
    h("p", { class: "lead" }, "Only ratios are compared: times of two runs also differ by what else the machine did. A change counts where it is beyond the noise of both runs."),
    h("section", { class: "filters", "aria-label": "Runs" }, select("a", "Before", options, a.name), select("b", "After", options, b.name), swap),
    filterBar({ without: ["run", "machine"] }),
    h("p", { role: "status", class: "status" }, `${plural(rows.length, "comparison")} in both: ${count(1)} better, ${count(-1)} worse, ${rows.length - count(1) - count(-1)} within the noise or not known.`),
  ];
  if (a.machine !== b.machine) parts.push(h("p", { class: "warning" }, `These runs are of different machines, ${a.machine} and ${b.machine}, so their ratios differ for that reason too.`));
  if (a === b) return [...parts, nothing("Choose two different runs.")];
  if (!rows.length) parts.push(nothing("These runs have no comparison in common. Sizes and groups may differ."));
  else parts.push(chart("The largest changes for their noise, with the range within which a change is noise.", (width) => changeChart(rows.slice(0, 25), width), 24 * Math.min(25, rows.length) + 60, legend([["worse", "loss", "▼"], ["within the noise", "aside", "●"], ["better", "gain", "▲"], ["range of noise", "aside", "▬"]])), changeTable(rows));
  return [...parts, h("h2", {}, "What differs between the runs"), factTable(a, b)];
}

function changeChart(rows, width) {
  const verdict = (row) => (row.direction > 0 ? "better" : row.direction < 0 ? "worse" : "within noise");
  const points = rows.map((row) => ({ label: `${row.task.operation}, ${name(row.task)}, ${row.library.name}`, factor: row.factor, low: 1 / (row.limit ?? 1), high: row.limit ?? 1, verdict: verdict(row), text: delta(row.factor) }));
  const verdicts = ["worse", "within noise", "better"];
  const y = rowOf(width);
  const ends = [Math.min(...points.map((p) => Math.min(p.factor, p.low))) / 1.05, Math.max(...points.map((p) => Math.max(p.factor, p.high))) * 1.05];
  const scale = { type: "log", domain: ends, nice: false };
  const axis = { title: "after / before", orient: "top", format: "~g", values: niceTicks(...ends, isNarrow(width) ? 4 : 8) };
  return {
    data: { values: withRows(points, width) },
    height: rowHeight(width) * points.length,
    layer: [
      { mark: { type: "bar", color: color("muted"), opacity: 0.25, height: 10 }, encoding: { y, x: { field: "low", type: "quantitative", scale, axis }, x2: { field: "high" } } },
      { data: { values: [{}] }, mark: { type: "rule", color: color("text") }, encoding: { x: { datum: 1, type: "quantitative" } } },
      {
        mark: { type: "point", filled: true, size: 80, opacity: 1 },
        encoding: {
          y, x: { field: "factor", type: "quantitative", scale, axis },
          color: { field: "verdict", scale: { domain: verdicts, range: [color("loss"), color("muted"), color("gain")] }, legend: null },
          shape: { field: "verdict", scale: { domain: verdicts, range: ["triangle-down", "circle", "triangle-up"] }, legend: null },
          tooltip: [{ field: "label", title: "what" }, { field: "text", title: "change" }, { field: "verdict", title: "verdict" }],
        },
      },
    ],
  };
}

function changeTable(rows) {
  const columns = [
    { key: "what", label: "What", value: (row) => `${row.task.operation}, ${name(row.task)}` },
    { key: "beside", label: "Beside", value: (row) => row.library.name },
    { key: "before", label: "Before", numeric: true, value: (row) => row.before.ratio, cell: (row) => ratioCell(row.before) },
    { key: "after", label: "After", numeric: true, value: (row) => row.after.ratio, cell: (row) => ratioCell(row.after) },
    { key: "change", label: "Change", numeric: true, value: (row) => row.factor, cell: (row) => delta(row.factor) },
    { key: "limit", label: "Noise up to", numeric: true, value: (row) => row.limit, cell: (row) => (row.limit === null ? "?" : delta(row.limit).replace("+", "±")) },
    { key: "verdict", label: "Verdict", value: (row) => row.direction, cell: directionCell },
  ];
  return table({ id: "changes", caption: "Changes, the largest for their noise first", columns, rows });
}

function factTable(a, b) {
  const of = (run) => ({ Commit: run.commitName, Date: run.date, Size: run.size, ...Object.fromEntries(run.facts), ...run.versions });
  const [before, after] = [of(a), of(b)];
  const rows = unique([...Object.keys(before), ...Object.keys(after)]).map((fact) => ({ fact, before: before[fact] ?? "", after: after[fact] ?? "" }));
  const mark = (row) => (row.before === row.after ? row.after : h("strong", {}, row.after));
  const columns = [
    { key: "fact", label: "Fact", value: (row) => row.fact },
    { key: "before", label: "Before", value: (row) => row.before },
    { key: "after", label: "After", value: (row) => row.after, cell: mark },
  ];
  return table({ id: "facts", caption: "Machine, load and versions; what differs is bold", columns, rows });
}
