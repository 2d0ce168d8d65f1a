// SGD of the perceptron f(x) = w.x/sqrt(d) with the hinge loss, from w = 0. At every step a fresh
// batch of distinct points, and
//
//     v <- momentum v + (lr/B) sum over the batch's unfitted points of z / sqrt(d),   w <- w + v
//
// until every point has z.w >= margin sqrt(d). This is the plain loop; the package has the same
// process, with shortcuts that a plane of this size does not need.

import { makeRng } from "./rng.js";

const BATCHES = 3;
// Steps at which weights are kept: all up to 8, then four per doubling.
const DUE = snapshotSteps();

function snapshotSteps() {
  const steps = new Set([1, 2, 3, 4, 5, 6, 7, 8]);
  for (let i = 0; i < 200; i++) steps.add(Math.round(2 ** (i / 4)));
  return [...steps].sort((p, q) => p - q);
}

export function dot(z, row, w, dim) {
  let total = 0;
  for (let a = 0; a < dim; a++) total += z[row + a] * w[a];
  return total;
}

// Returns { status, steps, w, kept: [[step, w], ...] }: `steps` is the last one that changed a
// weight, and the last of `kept` is the end. `status` is "fitted", "diverged", or "budget" after
// `work` points were looked at.
export function trainPerceptron(z, setting) {
  const { size, dim, margin, lr, batch, momentum = 0, seed, work = Infinity } = setting;
  const random = makeRng(seed, BATCHES);
  const threshold = margin * Math.sqrt(dim);
  const rate = lr / (batch * Math.sqrt(dim));
  const w = new Float64Array(dim);
  const velocity = new Float64Array(dim);
  const items = Int32Array.from({ length: size }, (_, i) => i);
  const kept = [];
  let witness = 0;
  let looked = 0;
  let last = 0;

  const keepBefore = (step) => {
    while (DUE[kept.length] < step) kept.push([DUE[kept.length], w.slice()]);
  };
  // Begins at a point that was unfitted: only when it is fitted, another one is searched.
  const allFitted = () => {
    for (let tried = 0; tried < size; tried++) {
      if (dot(z, witness * dim, w, dim) < threshold) return false;
      witness = witness + 1 < size ? witness + 1 : 0;
      looked++;
    }
    return true;
  };
  const finish = (status) => {
    keepBefore(last);
    kept.push([last, w]);
    return { status, steps: last, w, kept };
  };

  for (let step = 1; ; step++) {
    let changed = momentum > 0;
    for (let a = 0; a < dim; a++) velocity[a] *= momentum;
    for (let i = 0; i < batch; i++) {
      if (batch < size) {
        const j = i + random.below(size - i);
        const item = items[j];
        items[j] = items[i];
        items[i] = item;
      }
      const row = items[i] * dim;
      if (dot(z, row, w, dim) < threshold) {
        for (let a = 0; a < dim; a++) velocity[a] += rate * z[row + a];
        changed = true;
      }
    }
    looked += batch;
    if (changed) {
      keepBefore(step);
      for (let a = 0; a < dim; a++) w[a] += velocity[a];
      last = step;
      if (allFitted()) return finish("fitted");
      if (!Number.isFinite(w[0])) return finish("diverged");
    }
    if (looked > work) return finish("budget");
  }
}
