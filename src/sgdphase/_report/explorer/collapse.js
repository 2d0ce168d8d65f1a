// Planes of several numbers of points P on one pair of axes: raw (batch, lr), or in units of the
// theory's scales, where alignment over its value in gradient descent is one function of both,
//
//     max(1, T/T_c, (T/T_c)(B/B*)).

import { colour, gradient } from "./colours.js";
import { drawChart } from "./chart.js";
import { makeLive } from "./live.js";
import { digits } from "./numbers.js";
import { axes, fit, makeScale, marker } from "./svg.js";

const FACTORS = [0.25, 1, 4];
// Marks at the same place are inside one another, and all of them can be seen.
const SIZES = [11, 8, 5];

export function collapseSizes(size) {
  return FACTORS.map((f) => f * size)
    .map((p) => Math.min(Math.max(p, 64), 4096))
    .filter((p, k, all) => all.indexOf(p) === k);
}

export const collapseLives = (setting) =>
  collapseSizes(setting.size).map((size) =>
    makeLive({ ...setting, size }, { octaves: 2, seeds: 1 }),
  );

// Every finished cell: logarithms of batch and lr, and of the two in units of B* and T_c.
export function collapsePoints(lives) {
  return lives.flatMap(({ setting, theory, lr, batch, results }, series) =>
    lr.flatMap((r, i) =>
      batch.flatMap((b, j) => {
        const cell = results[0][i][j];
        if (!cell || cell.status !== "fitted") return [];
        const star = Math.log2(b / theory.criticalBatch);
        const hot = Math.log2(r / b / theory.criticalTemperature);
        return [
          {
            series,
            size: setting.size,
            raw: [Math.log2(b), Math.log2(r)],
            scaled: [star, hot],
            m: cell.alignment,
            lr: r,
            batch: b,
            ratio: cell.alignment / theory.gdAlignment,
          },
        ];
      }),
    ),
  );
}

// `part` from 0 (raw axes) to 1 (scaled axes); between them points move on straight lines.
export function drawCollapse(svg, bar, points, part) {
  const box = fit(svg);
  const place = (p) => [0, 1].map((k) => p.raw[k] + part * (p.scaled[k] - p.raw[k]));
  const places = points.map(place);
  const domain = (k) => {
    const values = places.map((p) => p[k]);
    return values.length ? [Math.min(...values) - 1, Math.max(...values) + 1] : [0, 1];
  };
  const x = makeScale(domain(0), [box.left, box.right]);
  const y = makeScale(domain(1), [box.bottom, box.top]);
  const value = (p) => Math.log(part > 0.5 ? p.ratio : p.m);
  const values = points.map(value);
  const [low, high] = points.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  bar.querySelector(".low").textContent = digits(Math.exp(low), 2);
  bar.querySelector(".high").textContent = digits(Math.exp(high), 2);
  bar.querySelector(".strip").style.background = gradient("value");
  const marks = points.map((p, k) => {
    const [a, b] = [x(places[k][0]), y(places[k][1])];
    return marker(p.series, a, b, SIZES[p.series], {
      fill: colour("value", (values[k] - low) / (high - low || 1)),
      class: "cell-mark",
    });
  });
  const labels =
    part > 0.5 ? ["batch / B*", "T / T_c, with T = lr/batch"] : ["batch size", "learning rate"];
  svg.replaceChildren(
    axes(box, { x, y, xLabel: labels[0], yLabel: labels[1], grid: true }),
    ...marks,
  );
}

// Where noise or the first step decides: alignment over T, against the batch.
export function drawCollapsedCurves(svg, points, scaled, colours) {
  const sizes = [...new Set(points.map((p) => p.size))];
  const hot = points.filter((p) => p.scaled[1] > 3);
  const series = sizes.map((size, k) => ({
    points: hot
      .filter((p) => p.size === size)
      .map((p) =>
        scaled ? [2 ** p.scaled[0], p.ratio / 2 ** p.scaled[1]] : [p.batch, (p.m * p.batch) / p.lr],
      ),
    colour: colours[k],
    shape: k,
    dots: 5,
    kind: "dot",
  }));
  if (scaled && hot.length) {
    const ends = hot.map((p) => p.scaled[0]);
    const at = [Math.min(...ends), 0, Math.max(...ends)];
    series.unshift({ points: at.map((x) => [2 ** x, Math.max(1, 2 ** x)]), kind: "law" });
  }
  drawChart(svg, {
    series,
    base: 2,
    empty: "training...",
    xLabel: scaled ? "batch / B*" : "batch size",
    yLabel: scaled ? "alignment per T, over theory's" : "alignment / T",
    marks: scaled ? [{ x: 1, label: "B*" }] : [],
  });
}
