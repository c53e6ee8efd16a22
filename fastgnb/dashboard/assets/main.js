// Views by name, and drawing anew whenever the address changes.
const views = { ratios: ["Ratios", ratiosView], history: ["History", historyView], compare: ["Side by side", compareView], runs: ["Runs", runsView], method: ["Method", methodView], run: ["Run", runView] };
const first = data.libraries.find((library) => library.kind === "library")?.name ?? "";
const links = {
  ratios: linkTo("ratios"), history: linkTo("history", { operation: data.tasks[0]?.operation ?? "", library: first }),
  compare: linkTo("compare"), runs: linkTo("runs"), run: linkTo("run", { run: latest.name }), method: linkTo("method"),
};
const shownLinks = data.runs.length > 1 ? ["ratios", "history", "compare", "runs", "method"] : ["ratios", "run", "method"];
let drawn = "";

function render() {
  state.read();
  const view = Object.hasOwn(views, state.get("view")) ? state.get("view") : "ratios";
  const main = document.getElementById("main");
  const key = document.activeElement?.dataset?.key;
  const open = document.querySelector(".filter[open]")?.dataset.filter;
  const top = main.querySelector(".filter[open] fieldset")?.scrollTop;
  forgetCharts();
  const isSame = drawn === view + state.get("run") || (drawn && view !== "run" && drawn.startsWith(view));
  main.replaceChildren(...views[view][1]());
  document.querySelector("header nav").replaceChildren(h("ul", {}, shownLinks.map((name) => h("li", {}, h("a", { href: links[name], "aria-current": name === view || (view === "run" && name === "runs") ? "page" : null }, views[name][0]))), data.home ? h("li", {}, h("a", { href: data.home }, "Documentation")) : ""));
  document.title = `${main.querySelector("h1").textContent} – ${data.title}`;
  if (isSame) {
    const box = open && main.querySelector(`.filter[data-filter="${open}"]`);
    if (box) {
      box.open = true;
      box.querySelector("fieldset").scrollTop = top;
    }
    if (key) [...main.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key)?.focus({ preventScroll: true });
  } else if (drawn) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  drawn = view === "run" ? view + state.get("run") : view;
  document.documentElement.dataset.ready = location.hash || "#"; // what is drawn
}

addEventListener("hashchange", () => {
  if (location.hash === "#main") history.replaceState(null, "", `#${state.parameters}`);
  else render();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
render();
