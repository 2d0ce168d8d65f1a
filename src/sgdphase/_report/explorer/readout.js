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

const NOTES = {
  "lr/batch": "the noise of a step: temperature T",
  alignment: "mean of label times output over new data; ± is the standard deviation over seeds",
  "test error": "share of new data that is wrong; ± is the standard deviation over seeds",
  confidence: "share of resamples of the seeds with this regime",
};
const NONE = "–";

const withScatter = (value, sd, show) =>
  Number.isFinite(sd) ? `${show(value)} ± ${show(sd, 2)}` : show(value);

// Rows that a plane has, so that the list is as long at every cell.
function facts(plane, cell, lr, batch) {
  const has = (field) => plane.cells.some((row) => row.some((c) => c?.[field] > 0));
  const known = (value, words) => (value > 0 ? words() : NONE);
  const rows = [["lr/batch", power(lr / batch)]];
  const add = (term, field, words) =>
    has(field) && rows.push([term, known(cell?.[field], () => words(cell[field]))]);
  add("alignment", "value", (v) => withScatter(v, cell.valueSd, digits));
  add("test error", "error", (v) => withScatter(v, cell.errorSd, percent));
  add("steps", "steps", (v) => digits(v));
  add("runs", "runs", (n) => (cell.fitted === n ? `${n}` : `${cell.fitted} of ${n} fitted`));
  add("confidence", "confidence", (v) => (cell.regime === "unclear" ? NONE : percent(v)));
  return rows;
}

// `trains` says whether a cell that is not there can be trained.
export function fillReadout(host, plane, [i, j], trains) {
  const cell = plane.cells[i]?.[j];
  const [lr, batch] = [plane.lr[i], plane.batch[j]];
  const nothing = trains
    ? ["Not trained yet", "Click the cell, or press Enter, to train it."]
    : ["No runs", "There are no runs at this batch and learning rate."];
  const [name, sentence] = cell ? (WORDS[cell.regime] ?? WORDS.unclear) : nothing;
  const list = document.createElement("dl");
  const rows = facts(plane, cell, lr, batch);
  for (const [term, value] of rows)
    list.append(Object.assign(tag("dt", term), { title: NOTES[term] ?? "" }), tag("dd", value));
  const sure = rows.some(([term]) => term === "confidence")
    ? ` Confidence: ${NOTES.confidence}.`
    : "";
  replaceIfNew(
    host,
    tag("p", `batch ${power(batch)}, lr ${power(lr)}`, "where"),
    tag("p", name, "regime"),
    tag("p", sentence, "says"),
    list,
    tag("p", `±: standard deviation over seeds.${sure}`, "note"),
  );
}
