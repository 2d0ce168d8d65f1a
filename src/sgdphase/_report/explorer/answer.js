// A diagnosis beside the plane: its metric against the batch, and its rows as a table.

import { drawChart } from "./chart.js";
import { digits, percent } from "./numbers.js";
import { tag } from "./dom.js";
import { element } from "./svg.js";

const SHARES = ["test_error", "train_error", "error", "accuracy", "test_accuracy"];
const words = (metric) => metric.replaceAll("_", " ");

function shown(metric) {
  return SHARES.includes(metric) ? percent : (v) => digits(v);
}

const interval = (e, show) => {
  if (!e || !Number.isFinite(e.value)) return "unknown";
  const known =
    Number.isFinite(e.low) && Number.isFinite(e.high) && e.low !== null && e.high !== null;
  return known ? `${show(e.value)} [${show(e.low)}, ${show(e.high)}]` : show(e.value);
};

// In the place of the second plane.
export function ownPicture(figure, own, intervals) {
  const holder = figure.querySelector(".holder");
  let svg = holder.querySelector("#own-metric");
  const rows = own.rows.filter((r) => r.metric);
  const unit = SHARES.includes(own.metric) ? 100 : 1;
  const points = rows.map((r) => [r.batch, unit * r.metric.value]);
  const yours = rows.find((r) => r.batch === own.batch)?.metric;
  const edge = (side) => unit * (yours.value + side * own.tolerance);
  if (!svg) {
    svg = element("svg", { id: "own-metric", role: "img" });
    holder.append(svg);
  }
  svg.setAttribute("aria-label", `${words(own.metric)} against the batch`);
  drawChart(svg, {
    series: [
      ...(yours
        ? [-1, 1].map((side) => ({
            points: [
              [points[0][0], edge(side)],
              [points.at(-1)[0], edge(side)],
            ],
            kind: "law",
          }))
        : []),
      ...rows
        .filter((r) => intervals && r.metric.low > 0)
        .map((r) => ({
          points: [
            [r.batch, unit * r.metric.low],
            [r.batch, unit * r.metric.high],
          ],
          colour: "#0072b2",
        })),
      { points, colour: "#0072b2", dots: 5, kind: "dot" },
    ],
    base: 2,
    xLabel: "batch size",
    yLabel: words(own.metric) + (unit === 100 ? ", %" : ""),
    empty: "no metric in this answer",
    marks: [{ x: own.limit?.value, label: own.limit ? "largest batch" : "" }],
  });
}

// Of the two pictures; the second is there if the answer has numbers of its metric.
export function answerNames({ rows, metric }) {
  const known = rows.length > 0;
  const first = known ? "Learning rates that learn the same" : "Your training, and boundaries";
  return [first, rows.some((r) => r.metric) ? words(metric) : ""];
}

export function advice(own) {
  const best = own.raiseTo;
  const words = best
    ? `Raise the batch from ${own.batch} to ${digits(best.batch)}, with lr = ${digits(best.lr.value)} instead of ${digits(own.lr)}.`
    : "No larger batch is known to learn the same.";
  return `${words}${own.regime ? ` Regime: ${own.regime}.` : ""}`;
}

export function drawOwn(host, own, choices, choose) {
  host.replaceChildren();
  if (choices.length > 1) {
    const label = tag("label", "Experiment: ");
    const select = document.createElement("select");
    choices.forEach(({ plane }, k) =>
      select.append(Object.assign(tag("option", plane.title), { value: k })),
    );
    select.addEventListener("change", () => choose(Number(select.value)));
    label.append(select);
    host.append(label);
  }
  if (!own) return;
  const show = shown(own.metric);
  const better = own.better.map(
    ({ batch, lr, metric }) =>
      `A better ${words(own.metric)}: batch ${batch}, lr ${digits(lr.value)}: ${interval(metric, show)}.`,
  );
  host.append(
    ...[...better, advice(own)].map((line) => tag("p", line)),
    ...own.remarks.map((remark) => tag("p", remark, "note")),
  );
  if (!own.rows.length) return;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  const lr = (row) =>
    row.exists === false
      ? `none (best is ${digits(row.lr.value)})`
      : interval(row.lr, (v) => digits(v));
  const columns = [
    ["batch", (row) => row.batch],
    ["lr", lr],
    [words(own.metric), (row) => interval(row.metric, show)],
    ["against yours", (row) => row.verdict],
    // An answer from a table of runs does not have all of these.
    ...["steps", "seeds"]
      .filter((name) => own.rows.some((row) => row[name]))
      .map((name) => [name, (row) => row[name] ?? "unknown"]),
  ];
  for (const [title] of columns) head.append(Object.assign(tag("th", title), { scope: "col" }));
  const body = table.createTBody();
  for (const row of own.rows) {
    const line = body.insertRow();
    for (const [, entry] of columns) line.append(tag("td", String(entry(row))));
  }
  const wide = tag("div", "", "wide");
  wide.append(table);
  host.append(wide);
}
