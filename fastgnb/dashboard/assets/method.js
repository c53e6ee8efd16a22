// What is asked, how it is timed and checked, and why it comes out as it does.
function methodView() {
  const asked = data.questions.filter((question) => data.tasks.some((task) => task.question === question.identifier));
  return [
    h("h1", {}, "What is asked, and how"),
    h("h2", {}, "Method"),
    h("dl", { class: "prose" }, [
      ["Side by side", "Each round calls every program once, so that slow drifts of a shared machine affect all alike. Medians over rounds are compared. Compare ratios of one run, not times of two."],
      ["Checked", "Every timed result is compared with a reference. A program with wrong results stops the run."],
      ["Limits", "What the machine allows is measured in the same rounds: bytes that have to be read and written, or multiply-adds that have to be done. The share of it says how much is left to win."],
      ["Noise", `The noise of a ratio is a standard deviation of its logarithm, the larger of two: that of the median over rounds, paired between the two programs, and that between successive runs of one machine. Both are medians of absolute deviations. Where a ratio has few runs, the noise between runs is that of ratios between programs other than fastgnb. A change counts from ${data.limit} standard deviations on.`],
      ["Losses", "Ratios below 1 and missed targets stay in the tables."],
    ].map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)))),
    h("h2", {}, "Questions"),
    ...asked.map((question) => h("section", { class: "question" },
      h("h3", {}, question.title),
      h("dl", { class: "prose" }, [["Timed", question.timed], ["Checked", question.checked], ["Why", question.why]].map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text)))),
      data.comparisons.some((c) => c.task.question === question.identifier) ? h("p", {}, h("a", { href: linkTo("ratios", { question: question.identifier }), "aria-label": `Results: ${question.title}` }, "Results")) : "")),
  ];
}
