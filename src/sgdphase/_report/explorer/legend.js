// What lines and marks mean, below the planes.

import { CURVES } from "./colours.js";
import { replaceIfNew, tag } from "./dom.js";
import { element, marker, star } from "./svg.js";

const line = (kind) => element("path", { class: kind, d: "M1 7H33" });

const boundary = () => [line("measured halo"), line("measured")];

export function planeEntries(plane, theory) {
  const grey = element("rect", { width: 34, height: 14, fill: "#9aa2ab" });
  const guide = element("path", { class: "guide", style: "stroke: var(--soft)", d: "M1 7H33" });
  const lost = element("rect", { x: 8, width: 18, height: 14, style: "fill: var(--lost)" });
  const best = star(17, 7, 7, "best");
  const { criticalBatch, gdLine } = plane.lines ?? {};
  const cells = plane.cells.flat().filter(Boolean);
  return present([
    [criticalBatch || gdLine?.length, [grey, ...boundary()], "measured boundary"],
    [theory, [line("theory")], "theory, no fit"],
    [true, [guide], "same lr; same lr/batch"],
    [cells.some((c) => c.error > 0), [grey.cloneNode(), best], "lowest test error"],
    [cells.some((c) => !(c.value > 0)), [lost], "not finished"],
  ]);
}

// Entries are [whether it is there, shapes, words].
const present = (entries) => entries.filter(([there]) => there).map(([, ...entry]) => entry);

export function answerEntries({ rows, limit, tolerance, gdLine }) {
  const point = element("circle", { cx: 17, cy: 7, r: 5, class: "own-point" });
  const cross = element("path", { class: "own-none", d: "M12 2l10 10m0 -10l-10 10" });
  return present([
    [rows.length, [line("own-path"), point], "learns the same, with interval"],
    [rows.some((row) => row.exists === false), [cross], "no learning rate does"],
    [limit, [element("path", { class: "own-limit", d: "M17 0V14" })], "largest batch"],
    [tolerance, [line("curve law")], "as good as yours, within the tolerance"],
    [gdLine?.length, boundary(), "measured boundary"],
  ]);
}

export const collapseEntries = (lives) =>
  lives.map(({ setting }, k) => [
    [marker(k, 17, 7, 6, { fill: CURVES[k] })],
    `P = ${setting.size}${k === 0 ? " (shape: both pictures; colour: right)" : ""}`,
  ]);

export function drawLegend(list, entries) {
  const items = entries.map(([shapes, words]) => {
    const item = tag("li");
    item.append(element("svg", { "aria-hidden": "true", viewBox: "0 0 34 14" }, ...shapes), words);
    return item;
  });
  replaceIfNew(list, ...items);
}
