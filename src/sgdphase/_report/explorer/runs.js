// The table of every run as pictures to touch: hover a run, choose a column and a seed, toggle
// intervals. All numbers come from the table, which is there without this script, too.

import { drawChart } from "./chart.js";
import { colour } from "./colours.js";
import { addTo } from "./groups.js";
import { digits } from "./numbers.js";
import { tag } from "./dom.js";
import { axes, element, fit, makeScale } from "./svg.js";

const RESULTS = ["status", "steps", "time", "seconds"];
const FIRST = ["test_error", "alignment", "test_mse", "accuracy", "loss"];
const ALL = "all";

// { columns, parameters, rows: [{ values, row }] }; null for another table.
function readTable(table) {
  const columns = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  if (!["lr", "batch", "seed", "status"].every((name) => columns.includes(name))) return null;
  const rows = [...table.tBodies[0].rows].map((row) => ({
    row,
    values: Object.fromEntries(columns.map((name, k) => [name, row.cells[k]?.textContent ?? ""])),
  }));
  const end = columns.indexOf("status");
  const fixed = ["lr", "batch", "seed", "temperature"];
  const parameters = columns
    .slice(0, end)
    .filter((name) => !fixed.includes(name) && distinct(rows, name).length > 1);
  const numeric = (name) => rows.some(({ values }) => Number(values[name]) > 0);
  const results = columns.slice(end + 1).filter((name) => name !== "error" && numeric(name));
  const measured = results.filter((name) => !RESULTS.includes(name));
  return measured.length
    ? { columns: [...measured, ...results.filter((n) => RESULTS.includes(n))], parameters, rows }
    : null;
}

function distinct(rows, name) {
  const values = [...new Set(rows.map(({ values }) => values[name]))];
  return values.sort((a, b) => Number(a) - Number(b) || a.localeCompare(b));
}

function mostFrequent(rows, name) {
  const count = (value) => rows.filter(({ values }) => values[name] === value).length;
  return distinct(rows, name).reduce((a, b) => (count(b) > count(a) ? b : a));
}

function enhance(table, { columns, parameters, rows }) {
  const host = tag("div", "", "touch");
  const controls = tag("p", "", "controls");
  const column = choice(
    "Show",
    columns,
    FIRST.find((name) => columns.includes(name)) ?? columns[0],
  );
  const seed = choice("Seeds", [ALL, ...distinct(rows, "seed")], ALL);
  const others = parameters.map((name) =>
    choice(name, distinct(rows, name), mostFrequent(rows, name)),
  );
  const bars = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
  const barsLabel = tag("label", bars);
  barsLabel.append(" intervals");
  const plane = element("svg", { role: "img" });
  const chart = element("svg", { role: "img" });
  const words = tag(
    "p",
    "Move over a square: one setting, coloured by the mean over seeds.",
    "words",
  );
  words.setAttribute("aria-live", "polite");
  const pair = tag("div", "", "touch-pair");
  for (const svg of [plane, chart]) {
    const box = tag("div");
    box.append(svg);
    pair.append(box);
  }
  controls.append(
    column.label,
    " ",
    seed.label,
    ...others.flatMap((c) => [" ", c.label]),
    " ",
    barsLabel,
  );
  host.append(controls, pair, words);
  table.closest("details").before(host);

  let lit = null;
  function draw() {
    const name = column.select.value;
    const kept = rows.filter(
      ({ values }) =>
        (seed.select.value === ALL || values.seed === seed.select.value) &&
        others.every((c, k) => values[parameters[k]] === c.select.value),
    );
    const settings = settingsOf(kept, name);
    drawPlane(plane, settings, name, light);
    drawCurves(chart, settings, name, bars.checked);
  }
  // One setting: in words, and its rows in the table.
  function light(setting) {
    for (const { row } of lit?.runs ?? []) row.classList.remove("lit");
    lit = setting;
    for (const { row } of setting.runs) row.classList.add("lit");
    words.textContent = describe(setting, column.select.value, bars.checked);
  }
  for (const { select } of [column, seed, ...others]) select.addEventListener("change", draw);
  bars.addEventListener("change", draw);
  table.addEventListener("pointerover", (event) => {
    const row = event.target.closest("tbody tr");
    const run = rows.find((r) => r.row === row);
    if (run) light({ ...settingsOf([run], column.select.value)[0], runs: [run] });
  });
  new ResizeObserver(draw).observe(host);
}

function choice(words, values, at) {
  const label = tag("label", `${words.replaceAll("_", " ")} `);
  const select = document.createElement("select");
  for (const value of values)
    select.append(Object.assign(tag("option", value.replaceAll("_", " ")), { value }));
  select.value = at;
  label.append(select);
  return { label, select };
}

function settingsOf(rows, name) {
  const groups = new Map();
  for (const run of rows) {
    const key = `${run.values.lr},${run.values.batch}`;
    addTo(groups, key, run);
  }
  return [...groups.values()].map((runs) => {
    const values = runs
      .filter(({ values }) => values[name] !== "")
      .map(({ values }) => Number(values[name]));
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const squares = values.reduce((a, v) => a + (v - mean) ** 2, 0);
    const sd = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : NaN;
    return {
      lr: Number(runs[0].values.lr),
      batch: Number(runs[0].values.batch),
      runs,
      values,
      mean,
      sd,
    };
  });
}

function describe({ lr, batch, runs, mean, sd }, name, bars) {
  const statuses = [...new Set(runs.map(({ values }) => values.status))].join(", ");
  const scatter = bars && Number.isFinite(sd) ? ` ± ${digits(sd)}` : "";
  const seeds = runs.length > 1 ? `${runs.length} seeds` : `seed ${runs[0].values.seed}`;
  return `batch ${digits(batch)}, lr ${digits(lr)}: ${name.replaceAll("_", " ")} ${digits(mean)}${scatter} (${seeds}, ${statuses})`;
}

function drawPlane(svg, settings, name, light) {
  const box = fit(svg);
  svg.setAttribute(
    "aria-label",
    `${name.replaceAll("_", " ")} of every setting; the table below has the numbers`,
  );
  const domain = (key) => {
    const logs = settings.map((s) => Math.log2(s[key]));
    return [Math.min(...logs) - 0.7, Math.max(...logs) + 0.7];
  };
  const x = makeScale(domain("batch"), [box.left, box.right]);
  const y = makeScale(domain("lr"), [box.bottom, box.top]);
  const logs = settings.map((s) => Math.log(s.mean));
  const known = logs.filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const side = (scale, key) => {
    const places = [...new Set(settings.map((s) => Math.log2(s[key])))].sort((a, b) => a - b);
    const gaps = places.slice(1).map((p, k) => Math.abs(scale(p) - scale(places[k])));
    return Math.min(Math.max(Math.min(...gaps, 40), 7), 40);
  };
  const tall = Math.max(side(y, "lr"), 9);
  const wide = Math.min(side(x, "batch"), 2.5 * tall);
  const marks = settings.map((s, k) => {
    const fill = Number.isFinite(logs[k])
      ? colour("value", high > low ? (logs[k] - low) / (high - low) : 0.5)
      : "var(--lost)";
    const mark = element("rect", {
      x: x(Math.log2(s.batch)) - wide / 2,
      y: y(Math.log2(s.lr)) - tall / 2,
      width: wide,
      height: tall,
      fill,
      class: "run-mark",
    });
    mark.addEventListener("pointerenter", () => light(s));
    return mark;
  });
  svg.replaceChildren(axes(box, { x, y, xLabel: "batch", yLabel: "learning rate" }), ...marks);
}

// Against the batch: every run, and means with two standard errors.
function drawCurves(svg, settings, name, bars) {
  const spread = settings.filter((s) => bars && s.values.length > 1);
  svg.setAttribute("aria-label", `${name.replaceAll("_", " ")} against the batch`);
  drawChart(svg, {
    series: [
      ...spread.map((s) => {
        const error = (2 * s.sd) / Math.sqrt(s.values.length);
        return {
          points: [
            [s.batch, s.mean - error],
            [s.batch, s.mean + error],
          ],
          colour: "#0072b2",
          kind: "interval",
        };
      }),
      {
        points: settings.flatMap((s) => s.values.map((v) => [s.batch, v])),
        colour: "#8a929b",
        dots: 2.5,
      },
      { points: settings.map((s) => [s.batch, s.mean]), colour: "#0072b2", dots: 4, kind: "dot" },
    ],
    base: 2,
    xLabel: "batch",
    yLabel: name.replaceAll("_", " "),
    empty: "no positive numbers",
  });
}

for (const table of document.querySelectorAll("details table")) {
  const runs = readTable(table);
  if (runs) enhance(table, runs);
}
