// What lines and marks mean, below the planes.

import { CURVES } from "./colours.js";
import { marker } from "./collapse.js";
import { tag } from "./dom.js";
import { element } from "./svg.js";

const line = (kind) => element("path", { class: kind, d: "M1 7H33" });

export function planeEntries() {
  const grey = element("rect", { width: 34, height: 14, fill: "#9aa2ab" });
  const guide = element("path", { class: "guide", style: "stroke: var(--soft)", d: "M1 7H33" });
  return [
    [[grey, line("measured halo"), line("measured")], "measured boundary"],
    [[line("theory")], "theory, no fit"],
    [[guide], "same lr; same lr/batch"],
    [
      [element("rect", { x: 8, width: 18, height: 14, style: "fill: var(--lost)" })],
      "not finished",
    ],
  ];
}

export function answerEntries() {
  const point = element("circle", { cx: 17, cy: 7, r: 5, class: "own-point" });
  return [
    [[line("own-path"), point], "learns the same, with interval"],
    [
      [element("path", { class: "own-none", d: "M12 2l10 10m0 -10l-10 10" })],
      "no learning rate does",
    ],
    [[element("path", { class: "own-limit", d: "M17 0V14" })], "largest batch, with interval"],
  ];
}

export const collapseEntries = (lives) =>
  lives.map(({ setting }, k) => [
    [marker(k, 17, 7, 6, { fill: CURVES[k] })],
    `P = ${setting.size}`,
  ]);

export function drawLegend(list, entries) {
  const items = entries.map(([shapes, words]) => {
    const item = tag("li");
    item.append(element("svg", { "aria-hidden": "true", viewBox: "0 0 34 14" }, ...shapes), words);
    return item;
  });
  list.replaceChildren(...items);
}
