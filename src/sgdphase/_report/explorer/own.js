// What a user brings: the runs of a store as CSV, or the answer of `sgdphase diagnose --json`.

import { addTo } from "./groups.js";
import { summary } from "./live.js";

// Parameters that make another experiment, in the order in which they are named.
const EXPERIMENT = [
  "model",
  "problem",
  "train_size",
  "dim",
  "chi",
  "margin",
  "loss",
  "momentum",
  "weight_decay",
  "epochs",
  "width",
  "depth",
];

// Returns { kind: "planes", planes } or { kind: "diagnosis", ... }; throws an Error that says why not.
export function readOwn(content, name) {
  const start = content.trimStart();
  if (start.startsWith("{")) return readDiagnosis(parseJson(content, name), name);
  return { kind: "planes", planes: readRuns(content, name) };
}

function parseJson(content, name) {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new Error(`${name} is no valid JSON (${error.message})`);
  }
}

// One row per line; fields may be in double quotes.
export function parseCsv(content) {
  const lines = content.split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
  return lines.map((line) => {
    const fields = [];
    for (const [, quoted, bare] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
      fields.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    }
    return fields;
  });
}

function readRuns(content, name) {
  const [head, ...rows] = parseCsv(content);
  const needed = ["lr", "batch", "seed", "status", "alignment"];
  const missing = needed.filter((column) => !head?.includes(column));
  if (missing.length) {
    throw new Error(
      `${name} has no column ${missing.join(", ")}: give a CSV that sgdphase export wrote, or the output of sgdphase diagnose --json`,
    );
  }
  if (!rows.length) throw new Error(`${name} has no runs`);
  const column = Object.fromEntries(head.map((title, k) => [title, k]));
  const varying = EXPERIMENT.filter(
    (title) => title in column && new Set(rows.map((r) => r[column[title]])).size > 1,
  );
  const groups = new Map();
  for (const row of rows) {
    const title = varying.map((v) => `${v} = ${row[column[v]]}`).join(", ") || "all runs";
    addTo(groups, title, row);
  }
  const number = (row, title) => (row[column[title]] ? Number(row[column[title]]) : NaN);
  return [...groups].map(([title, some]) => {
    const runs = some.map((row) => ({
      lr: Number(number(row, "lr").toPrecision(12)),
      batch: number(row, "batch"),
      seed: number(row, "seed"),
      status: row[column.status],
      alignment: number(row, "alignment"),
      testError: number(row, "test_error"),
      steps: number(row, "steps"),
    }));
    return planeOfRuns(runs, `${name}: ${title}`);
  });
}

function planeOfRuns(runs, title) {
  const axis = (key) =>
    [...new Set(runs.map((r) => r[key]))].filter((v) => v > 0).sort((a, b) => a - b);
  const [lr, batch] = [axis("lr"), axis("batch")];
  const at = new Map();
  for (const run of runs) {
    const key = `${run.lr},${run.batch}`;
    addTo(at, key, run);
  }
  return summary({ lr, batch, title, runsAt: (i, j) => at.get(`${lr[i]},${batch[j]}`) ?? [] });
}

const estimate = (e) => (e && Number.isFinite(e.value) ? e : null);

// Both kinds of answers in one form: your point, rows, boundaries, and how far to raise the batch.
export function readDiagnosis(json, name) {
  if (json.yours && Array.isArray(json.equivalents)) return equivalents(json, name);
  if (json.largest_batch && "gd_line" in json) return untilFitted(json, name);
  throw new Error(
    `${name} is no answer of sgdphase diagnose --json: it has neither equivalents nor gd_line`,
  );
}

function equivalents(json, name) {
  const { yours, metric } = json;
  const withMetric = (r) => ({ ...r, metric: r.metrics?.[metric] });
  const rows = [
    {
      batch: yours.batch,
      lr: { value: yours.lr },
      exists: true,
      verdict: "yours",
      metric: yours.metrics?.[metric],
      steps: yours.steps,
      seeds: yours.seeds,
    },
    ...json.equivalents.map(withMetric),
  ].sort((p, q) => p.batch - q.batch);
  const limit = estimate(json.largest_batch);
  const good = rows.filter(
    (r) =>
      r.exists && r.batch > yours.batch && !(r.batch > (limit?.value ?? Infinity) * (1 + 1e-9)),
  );
  return {
    kind: "diagnosis",
    name,
    lr: yours.lr,
    batch: yours.batch,
    rows,
    better: (json.better ?? []).map(withMetric),
    metric,
    tolerance: json.tolerance,
    raiseTo: good.at(-1) ?? null,
    limit,
    regime: json.regime,
    remarks: [...(json.warnings ?? []), ...(json.unknown ?? [])],
  };
}

function untilFitted(json, name) {
  const star = estimate(json.critical_batch);
  const way = json.largest_batch.constant_temperature;
  const flat = json.largest_batch.constant_lr;
  const batch =
    flat.limit === "any"
      ? flat.value
      : way.limit === "up to" || way.limit === "any"
        ? way.value
        : null;
  const lr = flat.limit === "any" ? json.lr : batch && (json.lr * batch) / json.batch;
  return {
    kind: "diagnosis",
    name,
    lr: json.lr,
    batch: json.batch,
    rows: [],
    better: [],
    metric: "alignment",
    raiseTo: batch > json.batch ? { batch, lr: { value: lr } } : null,
    limit: null,
    criticalBatch: star,
    gdLine: json.gd_line ?? [],
    regime: json.regime,
    remarks: [...(json.warnings ?? []), ...(json.unknown ?? [])],
  };
}

// An empty plane that holds all of it.
export function planeOfDiagnosis(own) {
  const line = own.gdLine ?? [];
  const batches = [
    own.batch,
    ...own.rows.map((r) => r.batch),
    own.raiseTo?.batch,
    own.limit?.high,
    own.criticalBatch?.value,
    ...line.map((p) => p.batch),
  ];
  const rates = [
    own.lr,
    ...own.rows.flatMap((r) => [r.lr.value, r.lr.low, r.lr.high]),
    own.raiseTo?.lr.value,
    ...line.map((p) => p.lr),
  ];
  const grid = (values) => {
    const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log2);
    const [low, high] = [Math.floor(Math.min(...logs)) - 1, Math.ceil(Math.max(...logs)) + 1];
    return Array.from({ length: high - low + 1 }, (_, k) => 2 ** (low + k));
  };
  const [lr, batch] = [grid(rates), grid(batches)];
  const lines = { gdLine: line, criticalBatch: own.criticalBatch };
  return { lr, batch, title: own.name, cells: lr.map(() => batch.map(() => null)), lines };
}
