// The first view: how fast each operation is, beside every library and the machine's limits.
function ratiosView() {
  const comparisons = newest(selected());
  const rest = h("div", {});
  const status = h("p", { role: "status", class: "status" });
  const slower = comparisons.filter(isLoss).length;
  const runs = unique(comparisons.map((c) => c.run)).length;
  status.textContent = `${plural(comparisons.length, "comparison")} from ${plural(runs, "run")}; fastgnb is slower in ${slower}.`;
  const operations = unique(comparisons.map((c) => c.task.operation));
  if (!comparisons.length) rest.append(nothing("No comparison fits these filters. Clear some of them."));
  else rest.append(cards(comparisons), contents(operations), ...operations.map((operation) => section(operation, comparisons.filter((c) => c.task.operation === operation))));
  const lines = latestTargets();
  if (lines.length && comparisons.length) rest.append(targetSection(lines));
  return [
    h("h1", {}, "How fast is fastgnb?"),
    h("p", { class: "lead" }, "Ratios of times that were measured side by side: above 1×, fastgnb is faster. A problem is rows × features × classes. ", h("strong", { class: "loss" }, "▼ Red"), " marks where it is slower. ± is the noise, one standard deviation. Each row is from the newest run that has it."),
    filterBar({ extra: [toggle("slower", "1", "Only where slower"), toggle("size", "all", "All sizes")] }),
    status, rest,
  ];
}

const mean = (ratios) => Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
const name = (task) => [task.member === "GaussianNB" ? "" : task.member, task.problem, task.options].filter(Boolean).join(", ");

// Geometric means over the problems of the first question, beside the first library.
function cards(comparisons) {
  const main = comparisons.filter((c) => c.library.kind === "library" && c.task.question === comparisons[0].task.question);
  const groups = unique(main.map((c) => `${c.task.operation}|${c.library.name}`)).slice(0, 4);
  const items = groups.map((group) => {
    const members = main.filter((c) => `${c.task.operation}|${c.library.name}` === group);
    const ratios = members.map((c) => c.ratio), worst = members.reduce((a, b) => (a.ratio < b.ratio ? a : b));
    const [operation, library] = group.split("|");
    return h("li", { class: "card" },
      h("span", { class: "what" }, `${operation}, beside ${library}`),
      h("b", { class: mean(ratios) < 1 ? "loss" : null }, times(mean(ratios))),
      h("span", {}, ratios.length > 1 ? `geometric mean of ${ratios.length} problems; worst ${times(worst.ratio)} at ${name(worst.task)}` : name(worst.task)));
  });
  const losses = comparisons.filter(isLoss);
  const link = h("a", { href: state.link({ slower: "1" }) }, "Show them");
  items.push(h("li", { class: "card" },
    h("span", { class: "what" }, "Slower"), h("b", { class: losses.length ? "loss" : null }, `${losses.length} of ${comparisons.filter((c) => c.library.kind !== "limit").length}`),
    h("span", {}, "comparisons in which fastgnb is slower. ", losses.length && !state.get("slower") ? link : "")));
  return h("ul", { class: "cards" }, items);
}

const identifier = (text) => text.replace(/\W+/g, "-");
const contents = (operations) =>
  operations.length < 2 ? "" : h("nav", { class: "contents", "aria-label": "Operations" }, operations.map((operation) => h("button", { type: "button", onclick: () => document.getElementById(identifier(operation)).focus() }, operation)));

function section(operation, comparisons) {
  const point = (c) => {
    const width = Math.exp(c.noise ?? 0);
    return { label: name(c.task), library: c.library.name, ratio: c.ratio, low: c.ratio / width, high: c.ratio * width, text: `${times(c.ratio)} ${plusMinus(c.noise)}`, run: c.run.label };
  };
  const ratios = comparisons.filter((c) => c.library.kind !== "limit").map(point);
  const shares = comparisons.filter((c) => c.library.kind === "limit").map((c) => ({ ...point(c), text: percent(c.ratio) }));
  const height = (points) => 24 * unique(points.map((p) => p.label)).length + 60;
  const figures = [];
  if (ratios.length) figures.push(chart(`${operation}: how many times as fast as each library fastgnb is.`, (width) => ratioChart(ratios, width), height(ratios), libraryLegend(unique(ratios.map((point) => point.library)))));
  if (shares.length) figures.push(chart(`${operation}: share of the machine's limit that fastgnb reaches.`, (width) => shareChart(shares, width), height(shares)));
  return h("section", { class: "operation" },
    h("h2", { id: identifier(operation), tabindex: "-1" }, operation),
    h("div", { class: figures.length > 1 ? "pair" : "" }, figures),
    ratioTable(operation, comparisons));
}

const taskCell = (task) => [task.problem, h("span", { class: "aside" }, [task.member === "GaussianNB" ? "" : task.member, task.options].filter(Boolean).map((text) => ` ${text}`).join(","))];

function ratioTable(operation, comparisons) {
  const rows = unique(comparisons.map((c) => c.task)).map((task) => {
    const members = comparisons.filter((c) => c.task === task);
    return { task, ours: members[0].ours, run: members[0].run, by: Object.fromEntries(members.map((c) => [c.library.id, c])) };
  });
  const of = (kind) => unique(comparisons.map((c) => c.library).filter((library) => library.kind === kind)).sort((a, b) => a.id - b.id);
  const one = (row, kind) => Object.values(row.by).find((c) => c.library.kind === kind);
  const named = (cell, c) => (c ? [cell(c), h("span", { class: "noise" }, c.library.name.replace("fastgnb, ", ""))] : "");
  const columns = [
    { key: "problem", label: "Problem", value: (row) => row.task.problem, cell: (row) => taskCell(row.task) },
    { key: "speed", label: "Rows/s", numeric: true, value: (row) => (row.ours.rows ? row.ours.rows / row.ours.median : null), cell: (row) => speed(row.ours) },
    { key: "time", label: "Time", numeric: true, value: (row) => row.ours.median, cell: (row) => amount(row.ours) },
    ...of("library").map((library) => ({ key: `l${library.id}`, label: library.name, numeric: true, value: (row) => row.by[library.id]?.ratio, cell: (row) => ratioCell(row.by[library.id]) })),
    { key: "limit", label: "Share of limit", numeric: true, value: (row) => one(row, "limit")?.ratio, cell: (row) => named(shareCell, one(row, "limit")) },
    { key: "self", label: "Beside itself", numeric: true, value: (row) => one(row, "self")?.ratio, cell: (row) => named((c) => ratioCell(c)[0], one(row, "self")) },
    { key: "run", label: "Run", value: (row) => row.run.date, cell: (row) => h("a", { href: linkTo("run", { run: row.run.name }), title: row.run.label }, row.run.label.split(",")[0]) },
  ].filter(({ key }) => ({ speed: rows.some((row) => row.ours.rows), time: rows.some((row) => !row.ours.rows || row.task.n < 1e4), limit: of("limit").length, self: of("self").length })[key] ?? true);
  return table({ id: identifier(operation), caption: `${operation}: times as fast as, and share of limits`, columns, rows });
}

// The newest line of each target, misses and hits in one table.
function latestTargets() {
  const machines = state.all("machine"), names = state.all("run");
  const found = new Map();
  for (const run of data.runs)
    if ((!machines.length || machines.includes(run.machine)) && (!names.length || names.includes(run.name)))
      for (const line of run.targets) if (line.limit !== null) found.set(line.what, { ...line, run });
  return [...found.values()];
}

function targetSection(lines) {
  const missed = lines.filter((line) => !line.passed).length;
  return h("section", {},
    h("h2", { id: "targets", tabindex: "-1" }, "Targets"),
    h("p", {}, `${plural(missed, "target")} of ${lines.length} missed in the newest run that has each. Runs of the quick size are held to the targets of the full one.`),
    targetTable("targets", lines));
}

const withUnit = (value, unit) => (value === null ? "" : unit === "x" ? times(value) : `${digits(value)} ${unit}`.trim());
function targetTable(id, lines) {
  const verdict = (line) => (line.passed === null ? "" : line.passed ? h("span", { class: "gain" }, "✓ met") : h("strong", { class: "loss" }, "✗ missed"));
  const columns = [
    { key: "what", label: "What", value: (line) => line.what.replaceAll("`", "") },
    { key: "target", label: "Target", numeric: true, value: (line) => line.limit, cell: (line) => (line.limit === null ? "" : `${line.atMost ? "≤" : "≥"} ${withUnit(line.limit, line.unit)}`) },
    { key: "measured", label: "Measured", numeric: true, value: (line) => line.measured, cell: (line) => withUnit(line.measured, line.unit) },
    { key: "verdict", label: "Verdict", value: (line) => (line.passed === null ? "" : line.passed ? "met" : "missed"), cell: verdict },
    { key: "detail", label: "Detail", text: true, value: (line) => line.detail },
  ];
  if (lines.some((line) => line.run)) columns.push({ key: "run", label: "Run", value: (line) => line.run.date, cell: (line) => h("a", { href: linkTo("run", { run: line.run.name }) }, line.run.label) });
  return table({ id, caption: "Targets and what was measured", columns, rows: lines });
}
