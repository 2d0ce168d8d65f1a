// What the paper predicts without a fit: constants in chi, and where the regimes meet. The formulas
// of sgdphase.theory (`constants`, `scales`).

import { logGamma } from "./special.js";

const gammaRatio = (a, b) => Math.exp(logGamma(a) - logGamma(b));

export function constants(chi) {
  const cN = gammaRatio(1 + chi / 2, (3 + chi) / 2) / (2 * Math.sqrt(Math.PI));
  return {
    cN,
    c1: (1 + chi) / (Math.sqrt(2 * Math.PI) * (2 + chi)),
    kPerp: cN * Math.sqrt(Math.PI / 2),
    gamma: 1 / (1 + chi),
    meanX: ((1 + chi) * gammaRatio(1 + chi / 2, (3 + chi) / 2)) / Math.SQRT2, // E|x1|
  };
}

// Of plain SGD. With momentum m, steps add up to lr/(1 - m): its scales are those of that rate.
export function scales({ size, dim, chi, margin }) {
  const { cN, c1, kPerp, gamma, meanX } = constants(chi);
  const unfitted = (2 * Math.PI * cN * cN * dim) / size;
  const lam = (cN / unfitted) ** gamma;
  const xMin = ((2 ** ((1 + chi) / 2) * Math.exp(logGamma((3 + chi) / 2))) / size) ** gamma;
  return {
    criticalBatch: (dim / meanX) * lam * kPerp,
    criticalTemperature: margin / kPerp,
    // Per unit of temperature.
    crossoverTime: (dim * kPerp * lam ** (3 + chi)) / ((3 + chi) * c1),
    firstStepLr: (margin * dim) / (meanX * xMin),
    lam,
    unfitted,
    // The alignment of gradient descent by the same argument: w1 = lam margin sqrt(d).
    gdAlignment: lam * margin * meanX,
  };
}
