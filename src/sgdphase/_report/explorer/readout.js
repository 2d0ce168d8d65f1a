// What a cell says, in words.

import { replaceIfNew, tag } from "./dom.js";
import { digits, percent, power } from "./numbers.js";

const WORDS = {
  "noise-dominated": [
    "Noise-dominated",
    "The noise of small batches decides: what is learnt depends on lr/batch alone.",
  ],
  "first-step-dominated": [
    "First-step-dominated",
    "The first step decides: what is learnt depends on the learning rate alone.",
  ],
  GD: ["Like gradient descent", "Neither the batch nor the learning rate changes what is learnt."],
  unclear: ["Between regimes", "The slopes around this cell fit no regime."],
  diverged: ["Diverged", "The weights grew without limit."],
  missing: ["Not finished", "No training ended within its budget."],
};

const withScatter = (value, sd, show) =>
  Number.isFinite(sd) ? `${show(value)} ± ${show(sd)}` : show(value);

export function cellWords(cell) {
  if (!cell) return ["Not trained yet", "Click the cell, or press Enter, to train it."];
  return WORDS[cell.regime] ?? WORDS.unclear;
}

export function fillReadout(host, plane, [i, j]) {
  const cell = plane.cells[i]?.[j];
  const [lr, batch] = [plane.lr[i], plane.batch[j]];
  const [name, sentence] = cellWords(cell);
  const facts = [["lr/batch", power(lr / batch)]];
  if (cell?.fitted) {
    facts.push(["alignment", withScatter(cell.value, cell.valueSd, (v) => digits(v))]);
    if (cell.error > 0) facts.push(["test error", withScatter(cell.error, cell.errorSd, percent)]);
    if (cell.steps > 0) facts.push(["steps", digits(cell.steps)]);
  }
  if (cell)
    facts.push([
      "runs",
      cell.fitted === cell.runs ? `${cell.runs}` : `${cell.fitted} of ${cell.runs} fitted`,
    ]);
  if (cell?.confidence && cell.regime !== "unclear")
    facts.push(["confidence", percent(cell.confidence)]);
  const list = document.createElement("dl");
  for (const [term, value] of facts) list.append(tag("dt", term), tag("dd", value));
  replaceIfNew(
    host,
    tag("p", `batch ${power(batch)}, lr ${power(lr)}`, "where"),
    tag("p", name, "regime"),
    tag("p", sentence),
    list,
  );
}
