// Sentences of the page that depend on what it shows.

import { digits, power } from "./numbers.js";

const ALIGNMENT =
  "Trained until every point is fitted. Alignment is how clearly labels are learnt: the mean of label times output over new data.";

export const STORED = `Perceptron with P = 8192 points in d = 128 dimensions, chi = 1, margin 2⁻⁷; five seeds per cell. ${ALIGNMENT}`;

export function liveWords([done, total]) {
  const state =
    done < total
      ? `${Math.round((100 * done) / total)} % of the trainings done`
      : "three seeds per cell";
  return `Simulated in this page at the setting of the sliders: ${state}. ${ALIGNMENT}`;
}

export function collapseWords(lives) {
  const cells = lives.flatMap((live) => live.results.flat(2));
  const done = cells.filter(Boolean).length;
  const state =
    done < cells.length
      ? ` ${Math.round((100 * done) / cells.length)} % of the trainings done.`
      : "";
  return `Planes of three numbers of points, simulated here. Each mark is a training; its shape says P. In units of B* and T_c, marks at the same place have the same colour.${state}`;
}

export const COLLAPSE = [
  "Three planes at once",
  "By theory, alignment over its value in gradient descent is the largest of 1, T/T_c and (T/T_c)(batch/B*), at every P.",
  "T is lr/batch.",
];

export function trainedWords({ size, dim, chi, margin, momentum }) {
  const more = momentum ? `, momentum ${momentum}` : "";
  return `Trained here with P = ${size}, d = ${dim}, chi = ${chi}, margin ${power(margin)}${more}, one seed.`;
}

// The stored plane has more points than what is trained beside it.
export function otherWords(star) {
  if (!star) return "";
  return ` The plane above has more points: here B* is ${digits(star)} by theory, and a larger batch is not noise-dominated.`;
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
