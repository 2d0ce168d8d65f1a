// The charts of the trainings made in the page, and the cut through the plane.

import { drawChart } from "./chart.js";
import { digits, power } from "./numbers.js";
import { constants } from "./theory.js";
import { tag } from "./dom.js";

const EMPTY = "click a cell to train it";

export function drawChips(list, runs) {
  list.replaceChildren(
    ...runs.map((run) => {
      const item = tag("li");
      const line = tag("i");
      line.style.background = run.colour;
      const end = run.result
        ? `alignment ${digits(run.result.alignment)}, ${digits(run.result.steps)} steps${run.result.status === "fitted" ? "" : " (stopped)"}`
        : "training...";
      item.append(line, `batch ${power(run.batch)}, lr ${power(run.lr)}: ${end}`);
      return item;
    }),
  );
}

export function drawTrajectory(svg, runs) {
  const done = runs.filter((run) => run.result);
  const theories = new Map(done.map((run) => [run.lr / run.batch, run.result.online]));
  drawChart(svg, {
    series: [
      ...[...theories.values()].map((path) => ({
        points: path.map((p) => [p.w1, p.wPerp]),
        kind: "online",
      })),
      ...done.map((run) => ({
        points: run.result.path.map((p) => [p.w1, p.wPerp]),
        colour: run.colour,
        first: true,
        last: true,
      })),
    ],
    xLabel: "w₁ (along the teacher)",
    yLabel: "|w⊥| (across)",
    empty: EMPTY,
  });
}

export function drawUnfitted(svg, runs) {
  const done = runs.filter((run) => run.result);
  drawChart(svg, {
    series: done.flatMap(({ result, colour }) => [
      { points: result.path.map((p) => [p.time, p.expected]), colour, kind: "thin" },
      { points: result.path.map((p) => [p.time, p.unfitted]), colour },
    ]),
    marks: done.map((run, k) => ({
      x: run.result.tHat,
      colour: run.colour,
      label: k === 0 ? "t̂" : "",
    })),
    xLabel: "time: lr × steps",
    yLabel: "fraction not fitted",
    empty: EMPTY,
  });
}

// Along the row of the cursor: alignment over lr against the batch, and the theory's two laws.
export function drawCut(svg, note, plane, row, setting, theory) {
  const lr = plane.lr[row];
  const points = plane.batch
    .map((b, j) => [b, plane.cells[row]?.[j]?.value / lr])
    .filter((p) => p[1] > 0);
  const laws = [];
  if (setting && theory && points.length) {
    const { meanX } = constants(setting.chi);
    const [first, last] = [points[0][0], points.at(-1)[0]];
    const flat = (meanX * meanX) / setting.dim / (1 - (setting.momentum ?? 0));
    const noise = (b) => theory.gdAlignment / (theory.criticalTemperature * b);
    const end = Math.min(last, 4 * theory.criticalBatch);
    if (end > first) laws.push({ points: [first, end].map((b) => [b, noise(b)]), kind: "law" });
    laws.push({
      points: [
        [first, flat],
        [last, flat],
      ],
      kind: "law",
    });
  }
  const star = plane.lines?.criticalBatch?.value;
  drawChart(svg, {
    series: [
      ...laws,
      { points, colour: "#0072b2" },
      { points, colour: "#0072b2", dots: 4, kind: "dot" },
    ],
    marks: [
      { x: star, label: star ? `B* = ${digits(star)}` : "" },
      { x: theory?.criticalBatch, kind: "mark theory" },
    ],
    base: 2,
    xLabel: "batch size",
    yLabel: "alignment / lr",
    empty: "no cells in this row yet",
  });
  note.textContent =
    `Row of lr ${power(lr)}; B* shows in high rows. Falls as 1/batch where noise decides, flat where the first step decides: B* is where the two lines meet.` +
    (theory ? ` Theory: B* = ${digits(theory.criticalBatch)} (orange), its two laws dotted.` : "");
}
