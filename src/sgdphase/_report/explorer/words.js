// Sentences of the page that depend on what it shows.

import { digits, power } from "./numbers.js";

const ALIGNMENT =
  "Trained until every point is fitted. Alignment is how clearly labels are learnt: the mean of label times output over new data.";

export const STORED = `Perceptron with P = 8192 points in d = 128 dimensions, chi = 1, margin 2⁻⁷; five seeds per cell. ${ALIGNMENT}`;

const settingWords = ({ size, dim, chi, margin, momentum }) =>
  `P = ${size}, d = ${dim}, chi = ${chi}, margin ${power(margin)}${momentum ? `, momentum ${momentum}` : ""}`;

export function liveWords(setting, [done, total]) {
  const state = done < total ? `${done} of ${total} trainings done` : "three seeds per cell";
  return `Simulated in this page with ${settingWords(setting)}: ${state}. ${ALIGNMENT}`;
}

export function collapseWords(lives) {
  const cells = lives.flatMap((live) => live.results.flat(2));
  const done = cells.filter(Boolean).length;
  const state =
    done < cells.length
      ? ` ${Math.round((100 * done) / cells.length)} % of the trainings done.`
      : "";
  return `Planes of three numbers of points P, simulated here. Each mark is a training. B* and T_c are the theory's, of each P: in these units, marks at the same place have the same colour (left), and the three cuts are one curve (right).${state}`;
}

export const COLLAPSE = [
  "Three planes at once",
  "Across: the batch over B*, where the regimes meet. Up: T = lr/batch over T_c, below which noise does not matter.",
  "By theory, alignment over its value in gradient descent (GD) is the largest of 1, T/T_c and (T/T_c)(batch/B*), at every P.",
  "Right: alignment over T, in units of the theory's value where noise decides: 1 up to B*, then batch/B*.",
];

export const trainedWords = (setting) => `Trained here with ${settingWords(setting)}, one seed.`;

// Where the regimes meet: terms and values.
export function scaleRows(star, theory, limit, [done, total]) {
  const between = ({ value, low, high }) =>
    low > 0 && high > 0 && Number.isFinite(high)
      ? `${digits(value)} [${digits(low)}, ${digits(high)}]`
      : digits(value);
  const rows = [];
  if (limit) {
    const more = limit.high === null ? " or more" : "";
    rows.push(["largest batch that learns the same", between(limit) + more]);
  } else if (star) {
    const partly = done < total ? `, from ${done} of ${total} trainings` : "";
    rows.push([`critical batch B* [90 % interval]${partly}`, between(star)]);
  } else if (total) {
    const reason = done < total ? `not yet: ${done} of ${total} trainings` : "not in these cells";
    rows.push(["critical batch B*", reason]);
  }
  if (theory) {
    rows.push(["B* by theory", digits(theory.criticalBatch)]);
    rows.push([
      "T_c by theory",
      digits(theory.criticalTemperature),
      "the lr/batch below which noise does not matter",
    ]);
  }
  return rows;
}

// The stored plane has more points than what is trained beside it.
export function otherWords(star) {
  if (!star) return "";
  return ` Fewer points than in the stored plane: B* is ${digits(star)} by theory.`;
}

// How far several trainings of the same lr/batch, or of the same lr, agree.
export function comparison(runs) {
  const ends = runs.map((run) => run.result?.alignment).filter((m) => m > 0);
  if (runs.length < 2 || ends.length < runs.length) return "";
  const same = (f) => runs.every((run) => Math.abs(Math.log(f(run) / f(runs[0]))) < 1e-9);
  const kind = same((r) => r.lr / r.batch)
    ? "Same lr/batch"
    : same((r) => r.lr)
      ? "Same lr"
      : "All";
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return `${kind}: alignments from ${digits(low)} to ${digits(high)}, a factor of ${digits(high / low)}. `;
}
