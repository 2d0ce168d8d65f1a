// Small charts with two logarithmic axes.

import { axes, clipped, element, fit, linePath, makeScale, marker, star, text } from "./svg.js";

const log = Math.log10;
const usable = (v) => v > 0 && Number.isFinite(v);

// A series is { points: [[x, y]], colour, kind, first, last, dots, shape }.
export function drawChart(svg, { series, xLabel, yLabel, marks = [], empty, base = 10 }) {
  const box = fit(svg);
  const all = series.flatMap((s) => s.points.filter(([x, y]) => usable(x) && usable(y)));
  if (!all.length) {
    svg.replaceChildren(
      text(box.width / 2, box.height / 2, empty, { class: "empty", "text-anchor": "middle" }),
    );
    return;
  }
  const per = base === 2 ? Math.log2 : log;
  const [xs, ys] = [0, 1].map((k) => domain(all.map((p) => per(p[k]))));
  const x = makeScale(xs, [box.left, box.right]);
  const y = makeScale(ys, [box.bottom, box.top]);
  const at = ([a, b]) => [usable(a) ? x(per(a)) : NaN, usable(b) ? y(per(b)) : NaN];
  const inside = clipped(box, 6);
  for (const { x: place, label, colour, kind = "mark" } of marks) {
    if (!usable(place)) continue;
    inside.append(
      element("path", {
        class: kind,
        stroke: colour,
        d: linePath([
          [x(per(place)), box.top],
          [x(per(place)), box.bottom],
        ]),
      }),
    );
    const right = x(per(place)) > box.left + 0.55 * (box.right - box.left);
    if (label)
      inside.append(
        text(x(per(place)) + (right ? -4 : 4), box.top + 14, label, {
          class: "mark-label",
          fill: colour,
          "text-anchor": right ? "end" : "start",
        }),
      );
  }
  for (const s of series) {
    const points = s.points.map(at);
    if (!s.dots)
      inside.append(
        element("path", { class: `curve ${s.kind ?? ""}`, stroke: s.colour, d: linePath(points) }),
      );
    else
      for (const [a, b] of points)
        if (Number.isFinite(a + b))
          inside.append(marker(s.shape ?? 0, a, b, s.dots, { fill: s.colour, class: s.kind }));
    if (s.first)
      inside.append(
        element("circle", {
          cx: points[0][0],
          cy: points[0][1],
          r: 5,
          class: "first",
          stroke: s.colour,
        }),
      );
    if (s.last) inside.append(star(...points.at(-1), 8, "last", { fill: s.colour }));
  }
  svg.replaceChildren(axes(box, { x, y, xLabel, yLabel, base, grid: true }), inside);
}

function domain(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.05 * (high - low), 0.1);
  return [low - room, high + room];
}
