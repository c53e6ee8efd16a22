// All runs, and a page for each with everything that it measured.
const missedTargets = (run) => run.targets.filter((line) => line.passed === false).length;

function runsView() {
  const columns = [
    { key: "run", label: "Run", value: (run) => run.date, cell: (run) => h("a", { href: linkTo("run", { run: run.name }) }, run.label) },
    { key: "commit", label: "Commit", value: (run) => run.commitName, cell: (run) => h("code", {}, run.commitName) },
    { key: "machine", label: "Machine", value: (run) => run.machine },
    { key: "load", label: "Load", value: (run) => Object.fromEntries(run.facts)["Load before"] ?? "" },
    { key: "figures", label: "Figures", numeric: true, value: (run) => run.figures.length },
    { key: "slower", label: "Slower", numeric: true, value: (run) => run.comparisons.filter(isLoss).length },
    { key: "missed", label: "Targets missed", numeric: true, value: missedTargets },
    { key: "notes", label: "Notes", value: (run) => run.notes.length, cell: (run) => (run.notes.length ? plural(run.notes.length, "warning") : "") },
  ];
  return [
    h("h1", {}, "Runs"),
    h("p", { class: "lead" }, `${plural(data.runs.length, "run")}, the newest first. A commit with + had changes that were not committed.`),
    table({ id: "runs", caption: "All runs", columns, rows: [...data.runs].reverse() }),
  ];
}

function runView() {
  const run = runNamed(state.get("run"));
  if (!run) return [h("h1", {}, "No such run"), nothing("The address names a run that is not on this page."), h("p", {}, h("a", { href: linkTo("runs") }, "All runs"))];
  const facts = [["Commit", run.commitName + (run.dirty === null && run.commit ? " (the one that the results were committed with)" : "")], ["Date", run.date], ["Size", run.size], ...run.facts];
  const list = (pairs, className = "") => h("dl", { class: className }, pairs.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))));
  const previous = data.runs.slice(0, run.index).filter((other) => other.machine === run.machine && common(other, run)).at(-1);
  const links = [h("a", { href: linkTo("ratios", { run: run.name, size: "all" }) }, "Ratios of this run")];
  if (previous) links.push(h("a", { href: linkTo("compare", { a: previous.name, b: run.name }) }, `Beside the run before, ${previous.label}`));
  return [
    h("h1", {}, `Run of ${run.label}`),
    h("p", { class: "links" }, links),
    ...run.notes.map((note) => h("p", { class: "warning" }, note)),
    h("h2", {}, "Machine and load"), list(facts),
    h("h2", {}, "Versions"), list(Object.entries(run.versions), "compact"),
    ...(run.targets.length ? [h("h2", {}, "Targets"), targetTable("lines", run.targets)] : []),
    h("h2", {}, "Every figure"), figureTable(run),
  ];
}

function figureTable(run) {
  const columns = [
    { key: "operation", label: "Operation", value: (figure) => figure.task.operation },
    { key: "problem", label: "Problem", value: (figure) => figure.task.problem },
    { key: "member", label: "Member", value: (figure) => figure.task.member },
    { key: "options", label: "Options", value: (figure) => figure.task.options },
    { key: "program", label: "Program", value: (figure) => figure.program },
    { key: "median", label: "Median", numeric: true, value: (figure) => figure.median, cell: (figure) => [amount(figure), h("span", { class: "noise" }, figure.unit === "s" ? plusMinus(figure.noise) : figure.unit ? "" : "error")] },
    { key: "best", label: "Best", numeric: true, value: (figure) => figure.best, cell: (figure) => amount(figure, figure.best) },
    { key: "rounds", label: "Rounds", numeric: true, value: (figure) => figure.rounds },
    { key: "speed", label: "Rows/s", numeric: true, value: (figure) => (figure.rows ? figure.rows / figure.median : null), cell: speed },
  ];
  return table({ id: "figures", caption: "Every figure; ± is the noise of the median within the run, ? below three rounds", columns, rows: run.figures });
}
