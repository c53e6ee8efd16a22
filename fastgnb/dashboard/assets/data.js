// The JSON of encode.py as objects: data.tasks, data.runs, and data.comparisons of all runs.
const data = (() => {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const rows = (columns, names) =>
    (columns[0] ?? []).map((_, i) => Object.fromEntries(names.map((name, j) => [name, columns[j][i]])));
  const dimensions = ["question", "operation", "problem", "member", "dtype", "layout", "detail"];
  const sizes = { k: 1e3, M: 1e6 };
  const tasks = rows(raw.tasks, dimensions).map((task, id) => {
    for (const name of dimensions) task[name] = raw.words[task[name]];
    const [n, ...shape] = task.problem.split(" x ");
    const count = parseFloat(n.replaceAll(",", "")) * (sizes[n.slice(-1)] ?? 1);
    const options = [task.dtype === "float64" ? "" : task.dtype, task.layout === "C" ? "" : `${task.layout} order`, task.detail];
    return {
      ...task, id, n: count || 0, problem: task.problem.replaceAll(" x ", " × "),
      options: options.filter(Boolean).join(", "),
      // All but the number of rows: sizes of one problem share it.
      family: [task.question, task.operation, task.member, task.dtype, task.layout, task.detail, ...shape].join("|"),
    };
  });
  const series = rows(raw.series, ["task", "program", "unit", "rows"]);
  const libraries = raw.libraries.map(([name, kind], id) => ({ id, name, kind }));
  const targets = rows(raw.targets, ["what", "unit", "atMost"]);
  const comparisons = [];
  const runs = raw.runs.map((run, index) => {
    const figures = rows(run.figures, ["series", "median", "best", "rounds", "noise"]).map((figure) => {
      const { task, ...rest } = series[figure.series];
      return { ...figure, ...rest, task: tasks[task] };
    });
    const result = {
      ...run, index, figures,
      label: `${run.date.slice(0, 10)} ${run.date.slice(11, 16)}, ${run.size}`,
      commitName: run.commit ? run.commit + (run.dirty ? "+" : "") : "not recorded",
      targets: rows(run.targets, ["target", "limit", "measured", "passed", "detail"]).map((line) => ({ ...line, ...targets[line.target] })),
    };
    result.comparisons = rows(run.comparisons, ["ours", "theirs", "library", "ratio", "noise"]).map((row) => {
      const ours = figures[row.ours], library = libraries[row.library];
      return { ...row, ours, theirs: figures[row.theirs], library, task: ours.task, run: result, key: `${ours.task.id}|${library.id}` };
    });
    comparisons.push(...result.comparisons);
    return result;
  });
  return { ...raw, tasks, libraries, runs, comparisons };
})();

const isLoss = (c) => c.library.kind !== "limit" && c.ratio < 1;

// As `change` in noise.py.
function change(before, after) {
  const factor = after.ratio / before.ratio;
  if (before.noise === null || after.noise === null) return { factor, limit: null, direction: 0 };
  const limit = Math.exp(data.limit * Math.hypot(before.noise, after.noise));
  return { factor, limit, direction: Number(factor > limit) - Number(factor < 1 / limit) };
}

const latest = data.runs.at(-1);
const runNamed = (name) => data.runs.find((run) => run.name === name);
const unique = (values) => [...new Set(values)];

// Tasks in the order of questions, larger problems of one shape first.
const order = new Map(
  [...data.tasks]
    .sort((a, b) => {
      const rank = (task) => data.questions.findIndex((question) => question.identifier === task.question);
      const first = (task) => data.tasks.findIndex((other) => other.family === task.family);
      return rank(a) - rank(b) || first(a) - first(b) || b.n - a.n;
    })
    .map((task, position) => [task.id, position]),
);
const byTask = (a, b) => order.get(a.task.id) - order.get(b.task.id) || a.library.id - b.library.id;
