// Filters over comparisons. Each value is in the address as name=value, none meaning all.
const filters = [
  { name: "operation", label: "Operation", of: (c) => c.task.operation },
  { name: "problem", label: "Problem", of: (c) => c.task.problem },
  { name: "member", label: "Member", of: (c) => c.task.member },
  { name: "dtype", label: "Type", of: (c) => c.task.dtype },
  { name: "layout", label: "Layout", of: (c) => c.task.layout, show: (value) => `${value} order` },
  { name: "library", label: "Beside", of: (c) => c.library.name },
  { name: "question", label: "Question", of: (c) => c.task.question },
  { name: "machine", label: "Machine", of: (c) => c.run.machine },
  { name: "run", label: "Run", of: (c) => c.run.name, show: (value) => runNamed(value)?.label ?? value },
];

function selected(names = filters.map((filter) => filter.name)) {
  const active = filters.filter((filter) => names.includes(filter.name) && state.all(filter.name).length);
  const sets = active.map((filter) => [filter.of, new Set(state.all(filter.name))]);
  return data.comparisons.filter((c) => sets.every(([of, values]) => values.has(of(c))));
}

// The newest comparison of each task with each library, of the largest size unless all are wanted.
function newest(comparisons) {
  const found = new Map();
  for (const c of comparisons) found.set(c.key, c);
  let result = [...found.values()];
  if (state.get("size") !== "all") {
    const largest = new Map();
    for (const { task } of result) largest.set(task.family, Math.max(task.n, largest.get(task.family) ?? 0));
    result = result.filter(({ task }) => task.n === largest.get(task.family));
  }
  if (state.get("slower")) result = result.filter(isLoss);
  return result.sort(byTask);
}

const choices = new Map();
function valuesOf(filter) {
  if (!choices.has(filter.name)) {
    const all = filter.name === "run" ? [...data.runs].reverse().map((run) => run.name) : unique([...data.comparisons].sort(byTask).map(filter.of));
    choices.set(filter.name, all);
  }
  return choices.get(filter.name);
}

function filterBar({ without = [], extra = [] } = {}) {
  const boxes = filters.filter((filter) => !without.includes(filter.name) && valuesOf(filter).length > 1).map(filterBox);
  const reset = h("button", { type: "button", "data-key": "reset", onclick: () => (location.hash = linkTo(state.get("view", "ratios"))) }, "Clear filters");
  return h("section", { class: "filters", "aria-label": "Filters" }, boxes, extra, reset);
}

function filterBox(filter) {
  const chosen = state.all(filter.name);
  const show = filter.show ?? ((value) => value);
  const summary = h("summary", { "data-key": `filter.${filter.name}` }, filterText(filter, chosen));
  const items = valuesOf(filter).map((value) => {
    const box = h("input", { type: "checkbox", value, checked: chosen.includes(value), "data-key": `filter.${filter.name}.${value}` });
    box.addEventListener("change", () => {
      const rest = state.all(filter.name).filter((other) => other !== value);
      state.go({ [filter.name]: box.checked ? [...rest, value] : rest });
    });
    return h("label", {}, box, h("span", {}, show(value)));
  });
  const details = h("details", { class: `filter${chosen.length ? " active" : ""}`, "data-filter": filter.name }, summary, h("fieldset", {}, h("legend", { class: "hidden" }, filter.label), items));
  details.addEventListener("toggle", () => {
    if (details.open) for (const other of document.querySelectorAll(".filter[open]")) if (other !== details) other.open = false;
  });
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && details.open) {
      details.open = false;
      summary.focus();
    }
  });
  return details;
}

function filterText(filter, chosen) {
  const show = filter.show ?? ((value) => value);
  const text = chosen.length === 0 ? "all" : chosen.length === 1 ? show(chosen[0]) : `${chosen.length} chosen`;
  return [`${filter.label}: `, h("b", {}, text)];
}

addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".filter[open]")) if (!open.contains(event.target)) open.open = false;
});

function toggle(name, value, label) {
  const box = h("input", { type: "checkbox", checked: state.get(name) === value, "data-key": `toggle.${name}` });
  box.addEventListener("change", () => state.go({ [name]: box.checked ? value : "" }));
  return h("label", { class: "toggle" }, box, h("span", {}, label));
}

function select(name, label, options, value) {
  const items = options.map(([key, text]) => h("option", { value: key, selected: key === value }, text));
  const element = h("select", { "data-key": `select.${name}`, onchange: () => state.go({ [name]: element.value }) }, items);
  return h("label", { class: "select" }, h("span", {}, label), element);
}

const nothing = (text) => h("p", { class: "empty" }, text);
