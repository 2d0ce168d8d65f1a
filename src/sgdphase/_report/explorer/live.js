// Planes that are simulated in the page: which cells, in which order, and what they say.

import { readPhases } from "./phases.js";
import { scales } from "./theory.js";

const SEEDS = 3;
const DOWN = 4; // octaves of learning rate below the bend of the GD line, and above
const UP = 8;

// The theory's boundaries; with momentum, steps add up to those of the rate lr/(1 - momentum).
export function boundaries(setting) {
  const s = scales(setting);
  const criticalTemperature = s.criticalTemperature * (1 - (setting.momentum ?? 0));
  return { ...s, criticalTemperature };
}

export const keyOf = ({ size, dim, chi, margin, momentum }) =>
  [size, dim, chi, margin, momentum].join();

// Powers of two around the theory's boundaries: `results[seed][i][j]` fills up.
export function makeLive(setting, { octaves = 1, seeds = SEEDS } = {}) {
  const theory = boundaries(setting);
  const bend = Math.round(Math.log2(bendOf(theory)));
  const lr = [];
  for (let e = bend - DOWN; e <= bend + UP; e += octaves) lr.push(2 ** e);
  const batch = [];
  for (let b = 1; b <= setting.size; b *= 2 ** octaves) batch.push(b);
  const blank = () => lr.map(() => batch.map(() => null));
  return { setting, theory, lr, batch, seeds, results: Array.from({ length: seeds }, blank) };
}

// The learning rate at which the regimes meet.
const bendOf = (theory) => theory.criticalTemperature * theory.criticalBatch;

// [seed, i, j] of all trainings: seed by seed, from the point where the regimes meet outwards. B*
// is read above the bend, and trainings below it take long: they wait for two seeds above.
function order({ lr, batch, theory, results }) {
  const far = (i, j) =>
    Math.hypot(Math.log2(lr[i] / bendOf(theory)), Math.log2(batch[j] / theory.criticalBatch));
  const places = results.flatMap((_, seed) =>
    lr.flatMap((r, i) =>
      batch.map((_, j) => [seed + (r < bendOf(theory) ? 1.5 : 0), far(i, j), seed, i, j]),
    ),
  );
  return places.sort((p, q) => p[0] - q[0] || p[1] - q[1]).map(([, , ...place]) => place);
}

// Ask for all trainings; `progress(done, total)` after each.
export function fill(live, pool, group, progress) {
  const places = order(live);
  const missing = places.filter(([seed, i, j]) => !live.results[seed][i][j]);
  let done = places.length - missing.length;
  for (const [seed, i, j] of missing) {
    const setting = { ...live.setting, lr: live.lr[i], batch: live.batch[j], seed };
    pool.ask("cell", setting, { group }).then((result) => {
      if (!result) return;
      live.results[seed][i][j] = result;
      progress(++done, places.length);
    });
  }
  if (!missing.length) progress(done, done);
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

function scatter(values) {
  const m = mean(values);
  return values.length > 1
    ? Math.sqrt(values.reduce((a, v) => a + (v - m) ** 2, 0) / (values.length - 1))
    : NaN;
}

// The plane as it is known now. Boundaries are told once every cell above the bend, where noise or
// the first step decides, has two seeds: from a few cells they would be wrong.
export function planeOf(live, title) {
  const { lr, batch, results, theory } = live;
  const runsAt = (i, j) => results.flatMap((r, seed) => (r[i][j] ? [{ ...r[i][j], seed }] : []));
  const plane = summary({ lr, batch, title, runsAt });
  const hot = lr.map((_, i) => i).filter((i) => lr[i] >= bendOf(theory));
  const told = hot.every((i) => batch.every((_, j) => runsAt(i, j).length > 1));
  return told ? plane : { ...plane, lines: {} };
}

// A plane from the runs of its cells: { alignment, testError, steps, status, seed }.
export function summary({ lr, batch, title, runsAt }) {
  const runs = lr.map((_, i) => batch.map((_, j) => runsAt(i, j)));
  const fitted = runs.map((row) => row.map((cell) => cell.filter((r) => r.status === "fitted")));
  const seeds = [...new Set(runs.flat(2).map((r) => r.seed))].sort((a, b) => a - b);
  const logOf = (cell, seed) => Math.log2(cell.find((r) => r.seed === seed)?.alignment ?? NaN);
  const log = fitted.map((row) => row.map((cell) => seeds.map((seed) => logOf(cell, seed))));
  const phases = readPhases({ lr, batch, log });
  const cells = runs.map((row, i) =>
    row.map((all, j) => {
      if (!all.length) return null;
      const good = fitted[i][j];
      const values = good.map((r) => r.alignment);
      const errors = good.map((r) => r.testError).filter(Number.isFinite);
      const diverged = all.filter((r) => r.status === "diverged").length;
      return {
        value: good.length ? 2 ** mean(log[i][j].filter(Number.isFinite)) : NaN,
        valueSd: scatter(values),
        error: errors.length ? mean(errors) : NaN,
        errorSd: scatter(errors),
        steps: good.length ? mean(good.map((r) => r.steps)) : NaN,
        status: diverged > good.length ? "diverged" : good.length ? "fitted" : all[0].status,
        regime: diverged > good.length ? "diverged" : phases.regime[i][j],
        fitted: good.length,
        runs: all.length,
      };
    }),
  );
  const { gdLine, criticalBatch } = phases;
  return { lr, batch, title, cells, lines: { gdLine, criticalBatch } };
}
