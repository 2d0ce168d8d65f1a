// The data: z = y x for labels y = sign(x1). So z1 = |x1|, with density |x1|^chi exp(-x1^2/2),
// and the other coordinates are standard Gaussian, as the label is independent of them.

import { makeRng } from "./rng.js";

export const TRAIN = 1;
export const TEST = 2;

export function teacherPoints({ size, dim, chi, seed, use }) {
  const along = makeRng(seed, use, 0);
  const across = makeRng(seed, use, 1);
  const z = new Float64Array(size * dim);
  for (let i = 0; i < size; i++) {
    const row = i * dim;
    // x1^2/2 is a gamma variate.
    z[row] = Math.sqrt(2 * along.gamma((1 + chi) / 2));
    for (let a = 1; a < dim; a++) z[row + a] = across.normal();
  }
  return z;
}
