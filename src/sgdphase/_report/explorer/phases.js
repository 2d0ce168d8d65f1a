// Regimes and boundaries from the numbers in a plane, by the rules of sgdphase.diagram: slopes of
// log m in log lr and log batch from the cells around, averaged over seeds; B* where the power
// laws of the two noisy regimes meet; the GD line where m is twice its value in gradient descent.

import { addTo } from "./groups.js";

export const TARGETS = {
  "noise-dominated": [1, -1],
  "first-step-dominated": [1, 0],
  GD: [0, 0],
};
const REACH = 0.5;
const FINE = 16;

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const finite = (values) => values.filter(Number.isFinite);

// `log[i][j][s]`: log2 of the observable at lr i, batch j, seed s; NaN where no run was fitted.
export function readPhases({ lr, batch, log }) {
  const x = lr.map(Math.log2);
  const y = batch.map(Math.log2);
  const regime = lr.map((_, i) => batch.map((_, j) => regimeAt(x, y, log, i, j)));
  const inner = (name) => innerCells(x, y, regime, name);
  const cells = {
    noise: inner("noise-dominated"),
    first: inner("first-step-dominated"),
    gd: inner("GD"),
  };
  const seeds = log[0][0].map((_, s) => log.map((row) => row.map((cell) => [cell[s]])));
  const starOf = (some) => logCriticalBatch(x, y, some, cells);
  const lineOf = (some) => logGdLine(x, batch, some, cells.gd);
  const lines = seeds.map(lineOf);
  return {
    regime,
    criticalBatch: withInterval(starOf(log), seeds.map(starOf)),
    gdLine: lineOf(log).map(([b, at]) => {
      const each = lines.flatMap((line) => line.filter((p) => p[0] === b).map((p) => p[1]));
      const { value, low, high } = withInterval(at, each);
      return { batch: b, lr: value, low, high };
    }),
  };
}

// Powers of two: a logarithm, and Student's interval of level 90 % from those of the seeds.
function withInterval(log, bySeed) {
  if (!Number.isFinite(log)) return null;
  const known = finite(bySeed);
  const n = known.length;
  if (n < 2) return { value: 2 ** log, low: NaN, high: NaN };
  const middle = mean(known);
  const squares = known.reduce((sum, v) => sum + (v - middle) ** 2, 0);
  const reach = student(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { value: 2 ** log, low: 2 ** (log - reach), high: 2 ** (log + reach) };
}

// The 95 % quantile of Student's distribution; beyond the table good to 0.01.
const STUDENT = [6.314, 2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86, 1.833, 1.812];
const student = (freedom) => STUDENT[freedom - 1] ?? 1.645 + 1.65 / freedom;

function regimeAt(x, y, log, i, j) {
  if (!log[i][j].some(Number.isFinite)) return "missing";
  const slopes = [];
  for (let s = 0; s < log[i][j].length; s++) {
    const slope = localSlope(x, y, log, i, j, s);
    if (slope) slopes.push(slope);
  }
  if (!slopes.length) return "unclear";
  const u = mean(slopes.map((p) => p[0]));
  const v = mean(slopes.map((p) => p[1]));
  const far = Object.entries(TARGETS).map(([name, t]) => [Math.hypot(u - t[0], v - t[1]), name]);
  const [distance, name] = far.reduce((a, b) => (b[0] < a[0] ? b : a));
  return distance <= REACH ? name : "unclear";
}

// Least squares over the cells at most one step away.
function localSlope(x, y, log, i, j, s) {
  if (!Number.isFinite(log[i][j][s])) return null;
  const near = [];
  for (let a = Math.max(0, i - 1); a <= Math.min(x.length - 1, i + 1); a++) {
    for (let b = Math.max(0, j - 1); b <= Math.min(y.length - 1, j + 1); b++) {
      if (Number.isFinite(log[a][b][s])) near.push([x[a], y[b], log[a][b][s]]);
    }
  }
  const centre = [0, 1, 2].map((k) => mean(near.map((p) => p[k])));
  let [uu, uv, vv, um, vm] = [0, 0, 0, 0, 0];
  for (const p of near) {
    const [u, v, m] = p.map((value, k) => value - centre[k]);
    uu += u * u;
    uv += u * v;
    vv += v * v;
    um += u * m;
    vm += v * m;
  }
  const det = uu * vv - uv * uv;
  if (!(det > 1e-3 * Math.max(uu * vv, 1e-300))) return null;
  return [(vv * um - uv * vm) / det, (uu * vm - uv * um) / det];
}

// The cells of a regime at least half as far from those of the others as its deepest one.
function innerCells(x, y, regime, name) {
  const is = (i, j, test) => regime[i]?.[j] !== undefined && test(regime[i][j]);
  const others = [];
  const mine = [];
  regime.forEach((row, i) =>
    row.forEach((cell, j) => {
      if (cell === name) mine.push([i, j]);
      else if (cell in TARGETS) {
        // A single cell is noise, not a region.
        const same = (c) => c === cell;
        const beside =
          is(i - 1, j, same) || is(i + 1, j, same) || is(i, j - 1, same) || is(i, j + 1, same);
        if (beside) others.push([i, j]);
      }
    }),
  );
  if (!mine.length || !others.length) return mine;
  const gaps = mine.map(([i, j]) =>
    Math.min(...others.map(([a, b]) => Math.hypot(x[i] - x[a], y[j] - y[b]))),
  );
  const deepest = Math.max(...gaps);
  return mine.filter((_, k) => gaps[k] >= deepest / 2);
}

// Cells of one batch count as one.
function columnMeans(cells, log, value) {
  const columns = new Map();
  for (const [i, j] of cells) {
    const known = finite(log[i][j]);
    if (known.length) addTo(columns, j, value(mean(known), i, j));
  }
  return [...columns.values()].map(mean);
}

// NaN without cells of both regimes.
function logCriticalBatch(x, y, log, { noise, first }) {
  const a = columnMeans(noise, log, (m, i, j) => m - x[i] + y[j]);
  const b = columnMeans(first, log, (m, i) => m - x[i]);
  return a.length && b.length ? mean(a) - mean(b) : NaN;
}

// [batch, log2 lr] where the line is reached.
function logGdLine(x, batch, log, plateau) {
  const known = plateau.flatMap(([i, j]) =>
    log[i][j].some(Number.isFinite) ? [mean(finite(log[i][j]))] : [],
  );
  if (!known.length) return [];
  const gd = mean(known);
  return batch.flatMap((b, j) => {
    const rows = x.map((_, i) => i).filter((i) => log[i][j].some(Number.isFinite));
    const m = rows.map((i) => mean(finite(log[i][j])) - gd);
    if (rows.length < 2 || !(m[0] < 1 && m[m.length - 1] >= 1)) return [];
    return [
      [
        b,
        crossing(
          rows.map((i) => x[i]),
          m,
          1,
        ),
      ],
    ];
  });
}

// Where a curve rises through `height`, by a monotone cubic: the start plus the length below.
export function crossing(x, y, height) {
  const curve = monotoneCubic(x, y);
  let length = 0;
  for (let k = 0; k + 1 < x.length; k++) {
    const h = (x[k + 1] - x[k]) / FINE;
    for (let n = 0; n < FINE; n++) {
      const a = curve(k, n / FINE) - height;
      const b = curve(k, (n + 1) / FINE) - height;
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      length += h * (high <= 0 ? 1 : low >= 0 ? 0 : -low / (high - low));
    }
  }
  return x[0] + length;
}

// Fritsch and Butland's slopes, as in scipy's PchipInterpolator.
function monotoneCubic(x, y) {
  const n = x.length;
  const h = x.slice(1).map((v, k) => v - x[k]);
  const d = h.map((w, k) => (y[k + 1] - y[k]) / w);
  const end = (h0, h1, d0, d1) => {
    const slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (Math.sign(slope) !== Math.sign(d0)) return 0;
    return Math.sign(d0) !== Math.sign(d1) && Math.abs(slope) > 3 * Math.abs(d0) ? 3 * d0 : slope;
  };
  const s = y.map((_, k) => {
    if (n === 2) return d[0];
    if (k === 0) return end(h[0], h[1], d[0], d[1]);
    if (k === n - 1) return end(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
    if (d[k - 1] * d[k] <= 0) return 0;
    const w1 = 2 * h[k] + h[k - 1];
    const w2 = h[k] + 2 * h[k - 1];
    return (w1 + w2) / (w1 / d[k - 1] + w2 / d[k]);
  });
  return (k, t) => {
    const u = 1 - t;
    const left = y[k] * (1 + 2 * t) * u * u + h[k] * s[k] * t * u * u;
    return left + y[k + 1] * (1 + 2 * u) * t * t - h[k] * s[k + 1] * u * t * t;
  };
}
