// One training from its setting to the numbers that are shown. Averages over the data distribution
// are computed from the weights, not sampled: alignment E|x1| w1/sqrt(d) and test error are exact.

import { constants } from "./theory.js";
import { moments, online, unfittedFraction } from "./online.js";
import { TRAIN, teacherPoints } from "./teacher.js";
import { dot, trainPerceptron } from "./perceptron.js";

// Work of one training in multiplications: about half a second.
const WORK = 3e8;
const MOST_KEPT = 4;
const kept = new Map(); // data sets, the last few

function pointsOf({ size, dim, chi, seed }) {
  const key = [size, dim, chi, seed].join();
  if (!kept.has(key)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
    kept.set(key, teacherPoints({ size, dim, chi, seed, use: TRAIN }));
  }
  return kept.get(key);
}

const across = (w) => Math.sqrt(dot(w, 1, w.subarray(1), w.length - 1));

function ending(run, { dim, chi }) {
  const w1 = run.w[0];
  const wPerp = across(run.w);
  return {
    status: run.status,
    steps: run.steps,
    w1,
    wPerp,
    alignment: (constants(chi).meanX * w1) / Math.sqrt(dim),
    testError: w1 > 0 ? moments(w1 / wPerp, 0, chi)[0] : NaN,
  };
}

// The numbers at the end of a training.
export function trainCell(setting) {
  const work = WORK / setting.dim;
  return ending(trainPerceptron(pointsOf(setting), { work, ...setting }), setting);
}

// A training, and its numbers in time.
export function trace(setting) {
  const { size, dim, margin, lr } = setting;
  const z = pointsOf(setting);
  const run = trainPerceptron(z, { work: WORK / dim, ...setting });
  const threshold = margin * Math.sqrt(dim);
  const path = run.kept.map(([step, w]) => {
    let unfitted = 0;
    for (let i = 0; i < size; i++) if (dot(z, i * dim, w, dim) < threshold) unfitted++;
    const [w1, wPerp] = [w[0], across(w)];
    const expected = unfittedFraction(w1, wPerp, setting);
    return { time: lr * step, w1, wPerp, unfitted: unfitted / size, expected };
  });
  return { run, path };
}

// All that the charts show of a training, with the online solution beside it.
export function trainTraced(setting) {
  const { run, path } = trace(setting);
  return {
    ...ending(run, setting),
    path,
    tHat: crossoverTime(path),
    online: onlinePath(setting, path),
  };
}

// t_hat: when the unfitted fraction of the training set has fallen to half of the distribution's.
// By bisection among the snapshots, as the package does; NaN if they part at once or never.
export function crossoverTime(path) {
  const ratio = (k) => path[k].unfitted / path[k].expected;
  let [low, high] = [0, path.length - 1];
  if (!(ratio(low) > 0.5 && ratio(high) <= 0.5)) return NaN;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ratio(middle) > 0.5) low = middle;
    else high = middle;
  }
  const part = (ratio(low) - 0.5) / (ratio(low) - ratio(high));
  return path[low].time * (path[high].time / path[low].time) ** part;
}

function onlinePath(setting, path) {
  const { lr, batch, momentum = 0 } = setting;
  // With momentum the steps add up to those of the rate lr/(1 - momentum).
  const stretch = 1 / (1 - momentum);
  const last = path[path.length - 1].time;
  const first = Math.min(lr, last / 2) / 4;
  const times = Array.from({ length: 48 }, (_, i) => first * (last / first) ** (i / 47));
  const scaled = times.map((t) => t * stretch);
  const found = online(scaled, { ...setting, temperature: (lr / batch) * stretch });
  return found.map(([w1, wPerp], i) => ({ time: times[i], w1, wPerp }));
}
