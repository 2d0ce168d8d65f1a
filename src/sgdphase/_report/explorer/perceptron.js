// SGD of the perceptron f(x) = w.x/sqrt(d) with the hinge loss, from w = 0. At every step a fresh
// batch of distinct points, and
//
//     v <- momentum v + (lr/B) sum over the batch's unfitted points of z / sqrt(d),   w <- w + v
//
// until every point has z.w >= margin sqrt(d). One shortcut changes nothing: a point with slack
// z.w - margin sqrt(d) stays fitted while the weights are nearer than slack/|z| to where it was
// computed. So only points in doubt are computed. Near gradient descent they are few.

import { makeRng } from "./rng.js";

const BATCHES = 3;
// Times that a batch is drawn from all points before they are computed again, about.
const ROUNDS = 16;
// Drawing a point, in products z.w; measured at d = 32.
const DRAW = 0.2;
// Steps at which weights are kept: all up to 8, then four per doubling.
const DUE = snapshotSteps();

function snapshotSteps() {
  const steps = new Set([1, 2, 3, 4, 5, 6, 7, 8]);
  for (let i = 0; i < 200; i++) steps.add(Math.round(2 ** (i / 4)));
  return [...steps].sort((p, q) => p - q);
}

// Four sums at once: a processor adds them in parallel.
export function dot(z, row, w, dim) {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let k = 0;
  for (; k + 3 < dim; k += 4) {
    a += z[row + k] * w[k];
    b += z[row + k + 1] * w[k + 1];
    c += z[row + k + 2] * w[k + 2];
    d += z[row + k + 3] * w[k + 3];
  }
  for (; k < dim; k++) a += z[row + k] * w[k];
  return a + b + (c + d);
}

const norm = (v) => Math.sqrt(dot(v, 0, v, v.length));

// Returns { status, steps, w, kept: [[step, w], ...] }: `steps` is the last one that changed a
// weight, and the last of `kept` is the end. `status` is "fitted", "diverged", or "budget" after
// the work of `work` products z.w.
export function trainPerceptron(z, setting) {
  const { size, dim, margin, lr, batch, momentum = 0, seed, work = Infinity } = setting;
  const random = makeRng(seed, BATCHES);
  const threshold = margin * Math.sqrt(dim);
  const rate = lr / (batch * Math.sqrt(dim));
  const w = new Float64Array(dim);
  const velocity = new Float64Array(dim);
  const items = Int32Array.from({ length: size }, (_, i) => i);
  const norms = Float64Array.from(items, (i) => norm(z.subarray(i * dim, (i + 1) * dim)));
  const picked = new Int32Array(size);
  const kept = [];
  let worked = 0;
  let last = 0;

  // Points that may be unfitted while the weights are within `reach` of `anchor`.
  const doubtful = items.slice();
  const inDoubt = new Uint8Array(size).fill(1);
  const anchor = new Float64Array(dim);
  let count = size;
  let reach = 0;
  let anchored = 0; // the step
  let witness = 0; // a place among them

  const farFromAnchor = () => {
    let square = 0;
    for (let a = 0; a < dim; a++) square += (w[a] - anchor[a]) ** 2;
    return square >= reach * reach;
  };
  const setAnchor = (step, moved) => {
    const soon = (step - anchored) * batch < ROUNDS * size;
    reach = Math.max(reach * (soon ? 1.5 : 0.75), moved);
    anchored = step;
    anchor.set(w);
    count = witness = 0;
    for (let i = 0; i < size; i++) {
      const slack = dot(z, i * dim, w, dim) - threshold;
      inDoubt[i] = slack < reach * norms[i] ? 1 : 0;
      if (inDoubt[i]) doubtful[count++] = i;
    }
    worked += size;
  };
  // Begins at a point that was unfitted: only when it is fitted, another one is searched.
  const allFitted = () => {
    for (let tried = 0; tried < count; tried++) {
      if (dot(z, doubtful[witness] * dim, w, dim) < threshold) return false;
      witness = witness + 1 < count ? witness + 1 : 0;
      worked++;
    }
    return true;
  };
  // The points of a batch that are in doubt; returns their number.
  const draw = () => {
    let found = 0;
    if (batch < count) {
      for (let i = 0; i < batch; i++) {
        const j = i + random.below(size - i);
        const item = items[j];
        items[j] = items[i];
        items[i] = item;
        if (inDoubt[item]) picked[found++] = item;
      }
    } else {
      // Each is in the batch with its chance, given those before.
      for (let k = 0; k < count; k++) {
        const left = size - k;
        const places = batch - found;
        if (places === left || random.uniform() * left < places) picked[found++] = doubtful[k];
      }
    }
    worked += DRAW * Math.min(batch, count);
    return found;
  };
  const keepBefore = (step) => {
    while (DUE[kept.length] < step) kept.push([DUE[kept.length], w.slice()]);
  };
  const finish = (status) => {
    keepBefore(last);
    kept.push([last, w]);
    return { status, steps: last, w, kept };
  };

  for (let step = 1; ; step++) {
    let changed = momentum > 0;
    for (let a = 0; a < dim; a++) velocity[a] *= momentum;
    const found = draw();
    for (let k = 0; k < found; k++) {
      const row = picked[k] * dim;
      if (dot(z, row, w, dim) < threshold) {
        for (let a = 0; a < dim; a++) velocity[a] += rate * z[row + a];
        changed = true;
      }
    }
    worked += found;
    if (changed) {
      keepBefore(step);
      for (let a = 0; a < dim; a++) w[a] += velocity[a];
      last = step;
      if (farFromAnchor()) setAnchor(step, norm(velocity));
      if (allFitted()) return finish("fitted");
      if (!Number.isFinite(w[0])) return finish("diverged");
    }
    if (worked > work) return finish("budget");
  }
}
