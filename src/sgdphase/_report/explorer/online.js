// The online solution: Eq. 3 of the paper without its noise, from w = 0, as sgdphase.theory.online.
// ln w1 and ln w_perp^2 are integrated over ln t.

import { constants } from "./theory.js";
import { erfc, logGamma } from "./special.js";

const SQRT_2_PI = Math.sqrt(2 / Math.PI);
const TAIL = 9; // a Gaussian is below 1e-17 of its peak beyond
const SPLIT = 12; // above this r, 1 + erf is first 2 and then a step, integrated apart
const UNTOUCHED = 1 / 80; // weights over margin sqrt(d) up to which every point is unfitted
const TOLERANCE = 1e-8;

// The tanh-sinh rule on [0, 1]: the power x^chi at 0 does no harm.
const RULE = tanhSinh(0.08, 3.4);

function tanhSinh(h, most) {
  const rule = [];
  for (let k = -Math.round(most / h); k * h <= most; k++) {
    const s = (Math.PI / 2) * Math.sinh(k * h);
    // 1/(1 + e^(-2s)) is (1 + tanh s)/2 without cancellation near 0.
    rule.push([
      1 / (1 + Math.exp(-2 * s)),
      (h * Math.PI * Math.cosh(k * h)) / (4 * Math.cosh(s) ** 2),
    ]);
  }
  return rule;
}

// [I0, I1, J0]: unfitted fraction, gradient along the teacher, gradient across over -sqrt(2/pi).
export function moments(lam, r, chi) {
  const norm = 2 ** ((1 + chi) / 2) * Math.exp(logGamma((1 + chi) / 2));
  const bulk = Math.sqrt(chi + 2) + TAIL;
  const near = r <= SPLIT;
  let i0 = 0;
  let i1 = 0;
  const add = (from, to, step) => {
    if (!(to > from)) return;
    for (const [t, weight] of RULE) {
      const x = from + (to - from) * t;
      const f = weight * (to - from) * x ** chi * Math.exp(-0.5 * x * x) * step(x);
      i0 += f;
      i1 += f * x;
    }
  };
  const edge = (s) => Math.min(bulk, s / lam);
  const smooth = (x) => erfc((lam * x - r) / Math.SQRT2);
  if (near) add(0, edge(r + bulk), smooth);
  else {
    add(0, edge(r - TAIL), () => 2);
    add(edge(r - TAIL), edge(r + TAIL), smooth);
  }
  // Of J0 both Gaussians make one, centred at mu in u = h x.
  const h = Math.hypot(1, lam);
  const mu = (r * lam) / h;
  const low = Math.max(0, mu - TAIL - chi);
  const high = 0.5 * (mu + Math.hypot(mu, 2 * Math.sqrt(chi + 4))) + TAIL;
  let j0 = 0;
  for (const [t, weight] of RULE) {
    const u = low + (high - low) * t;
    j0 += weight * (high - low) * (u / h) ** chi * Math.exp(-0.5 * (u - mu) ** 2);
  }
  j0 *= Math.exp(-0.5 * (r / h) ** 2) / h;
  return [i0 / norm, i1 / norm, j0 / norm];
}

// The unfitted fraction of the data distribution at these weights.
export function unfittedFraction(w1, wPerp, { dim, chi, margin }) {
  if (!(w1 > 0)) return moments(0, (margin * Math.sqrt(dim)) / wPerp, chi)[0];
  return moments(w1 / wPerp, (margin * Math.sqrt(dim)) / wPerp, chi)[0];
}

// [w1, w_perp] at increasing times lr x steps, at the temperature T = lr/batch > 0.
export function online(times, { dim, chi, margin, temperature }) {
  const rootD = Math.sqrt(dim);
  const wall = margin * rootD;
  const speed = constants(chi).meanX / rootD;
  const limit = UNTOUCHED * wall;
  const start = Math.min(limit / speed, limit ** 2 / temperature);
  const slope = (y, logT) => {
    const t = Math.exp(logT);
    const w1 = Math.exp(y[0]);
    const wPerp = Math.exp(y[1] / 2);
    const [i0, i1, j0] = moments(w1 / wPerp, wall / wPerp, chi);
    const across = ((temperature * i0) / wPerp - (2 * SQRT_2_PI * j0) / rootD) / wPerp;
    return [(t * i1) / (rootD * w1), t * across];
  };
  let y = [Math.log(speed * start), Math.log(temperature * start)];
  let x = Math.log(start);
  let step = 0.1;
  return times.map((t) => {
    if (t <= start) return [speed * t, Math.sqrt(temperature * t)];
    ({ y, x, step } = advance(slope, y, x, Math.log(t), step));
    return [Math.exp(y[0]), Math.exp(y[1] / 2)];
  });
}

// From x to `end` by Rosenbrock's method of order 4 with Shampine's constants: once the weights
// point along the teacher, w_perp relaxes much faster than w1 grows, and explicit steps would be
// tiny. The derivative of t F(y) over ln t is t F(y) itself.
function advance(slope, y, x, end, step) {
  while (x < end) {
    const h = Math.min(step, end - x);
    const { next, error } = rosenbrock(slope, y, x, h);
    const grow = 0.9 * (TOLERANCE / Math.max(error, 1e-30)) ** 0.25;
    if (error <= TOLERANCE) {
      y = next;
      x = h === end - x ? end : x + h;
      if (h === step || grow < 1) step = h * Math.min(grow, 3);
    } else step = h * Math.max(Number.isFinite(grow) ? grow : 0.2, 0.2);
  }
  return { y, x, step };
}

function rosenbrock(slope, y, x, h) {
  const f = slope(y, x);
  const eps = 1e-6;
  const fa = slope([y[0] + eps, y[1]], x);
  const fb = slope([y[0], y[1] + eps], x);
  // 2/h - J, to be solved four times.
  const m = [
    2 / h - (fa[0] - f[0]) / eps,
    -(fb[0] - f[0]) / eps,
    -(fa[1] - f[1]) / eps,
    2 / h - (fb[1] - f[1]) / eps,
  ];
  const det = m[0] * m[3] - m[1] * m[2];
  const solve = (p) => [(m[3] * p[0] - m[1] * p[1]) / det, (m[0] * p[1] - m[2] * p[0]) / det];
  const sum = (start, ...terms) =>
    [0, 1].map((i) => terms.reduce((total, [c, v]) => total + c * v[i], start[i]));
  const g1 = solve(sum(f, [h * 0.5, f]));
  const y2 = sum(y, [2, g1]);
  const f2 = slope(y2, x + h);
  const g2 = solve(sum(f2, [h * -1.5, f], [-8 / h, g1]));
  const y3 = sum(y, [48 / 25, g1], [6 / 25, g2]);
  const f3 = slope(y3, x + 0.6 * h);
  const g3 = solve(sum(f3, [(h * 121) / 50, f], [372 / 25 / h, g1], [12 / 5 / h, g2]));
  const g4 = solve(
    sum(f3, [(h * 29) / 250, f], [-112 / 125 / h, g1], [-54 / 125 / h, g2], [-2 / 5 / h, g3]),
  );
  const next = sum(y, [19 / 9, g1], [1 / 2, g2], [25 / 108, g3], [125 / 108, g4]);
  const wrong = sum([0, 0], [17 / 54, g1], [7 / 36, g2], [125 / 108, g4]);
  return { next, error: Math.max(Math.abs(wrong[0]), Math.abs(wrong[1])) };
}
