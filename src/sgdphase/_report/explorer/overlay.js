// A diagnosis on top of a plane.

import { element, linePath, star, text } from "./svg.js";

const LABEL = 104; // pixels of "raise the batch"

// Returns what draws it: path, points with intervals, the largest batch, an arrow.
export function overlay(own, intervals) {
  const log = Math.log2;
  return (x, y, box) => {
    const out = [];
    const { limit } = own;
    if (limit) {
      const [low, high] = [limit.low ?? limit.value, limit.high ?? limit.value].map((b, k) =>
        b > 0 && Number.isFinite(b) ? x(log(b)) : [box.left, box.right][k],
      );
      out.push(
        element("rect", {
          x: low,
          width: Math.max(high - low, 1),
          y: box.top,
          height: box.bottom - box.top,
          class: "band",
        }),
      );
      out.push(
        element("path", {
          class: "own-limit",
          d: linePath([
            [x(log(limit.value)), box.top],
            [x(log(limit.value)), box.bottom],
          ]),
        }),
      );
      out.push(
        text(x(log(limit.value)) - 6, box.bottom - 10, "largest batch", {
          class: "on-plane",
          "text-anchor": "end",
        }),
      );
    }
    const same = own.rows.filter((r) => r.exists);
    out.push(
      element("path", {
        class: "own-path",
        d: linePath(same.map((r) => [x(log(r.batch)), y(log(r.lr.value))])),
      }),
    );
    for (const row of own.rows) {
      const at = [x(log(row.batch)), y(log(row.lr.value))];
      if (intervals && row.lr.low > 0 && row.lr.high > 0)
        out.push(
          element("path", {
            class: "own-bar",
            d: linePath([
              [at[0], y(log(row.lr.low))],
              [at[0], y(log(row.lr.high))],
            ]),
          }),
        );
      if (row.exists === false)
        out.push(
          element("path", {
            class: "own-none",
            d: `M${at[0] - 5} ${at[1] - 5}l10 10m0 -10l-10 10`,
          }),
        );
      else if (row.batch !== own.batch)
        out.push(element("circle", { cx: at[0], cy: at[1], r: 5, class: "own-point" }));
    }
    const here = [x(log(own.batch)), y(log(own.lr))];
    if (own.raiseTo)
      out.push(...arrow(here, [x(log(own.raiseTo.batch)), y(log(own.raiseTo.lr.value))], box));
    out.push(
      star(...here, 10, "own-star"),
      text(here[0], here[1] + 26, "you", { class: "on-plane", "text-anchor": "middle" }),
    );
    return out;
  };
}

function arrow([a, b], [c, d], box) {
  const length = Math.hypot(c - a, d - b);
  if (length < 24) return [];
  const [u, v] = [(c - a) / length, (d - b) / length];
  // Beside the path, not on it.
  const away = 26;
  const [sa, sb] = [a + away * v, b - away * u];
  const [ea, eb] = [c + away * v, d - away * u];
  const head = `M${ea} ${eb}L${ea - 9 * u - 5 * v} ${eb - 9 * v + 5 * u}L${ea - 9 * u + 5 * v} ${eb - 9 * v - 5 * u}Z`;
  return [
    element("path", {
      class: "own-arrow",
      d: linePath([
        [sa, sb],
        [ea - 6 * u, eb - 6 * v],
      ]),
    }),
    element("path", { class: "own-arrow-head", d: head }),
    text(Math.max((sa + ea) / 2 - 8, box.left + LABEL), (sb + eb) / 2 - 8, "raise the batch", {
      class: "own-label",
      "text-anchor": "end",
    }),
  ];
}
