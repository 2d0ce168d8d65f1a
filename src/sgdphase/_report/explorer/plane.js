// A plane of cells over batch and learning rate: colours on a canvas, axes and lines as SVG on top.
//
// A plane is { lr, batch, cells, lines, title }. `cells[i][j]` is null (not there yet) or
// { value, valueSd, error, errorSd, steps, status, regime, fitted, runs, confidence }.

import { colour, gradient } from "./colours.js";
import { digits } from "./numbers.js";
import { axes, clipped, element, fit, linePath, makeScale, star, text } from "./svg.js";
import { TARGETS } from "./phases.js";

const SHORT = {
  "noise-dominated": "noise",
  "first-step-dominated": "first step",
  GD: "gradient descent",
};

// Borders between cells, half-way in logarithm.
export function edges(grid) {
  const x = grid.map(Math.log2);
  const step = x.length > 1 ? x[1] - x[0] : 1;
  const inner = x.slice(1).map((v, k) => (v + x[k]) / 2);
  const last = x.length > 1 ? x[x.length - 1] - x[x.length - 2] : 1;
  return [x[0] - step / 2, ...inner, x[x.length - 1] + last / 2];
}

// The range of a field, in logarithms.
export function rangeOf(plane, field) {
  const values = plane.cells
    .flat()
    .map((c) => c?.[field])
    .filter((v) => v > 0)
    .map(Math.log);
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

// `on` = { hover(i, j), leave(), pick(i, j), drag(cells, ended), undo(), move(di, dj),
// train(add) }; `undo` takes a drag back.
export function makePlaneView(host, field, on) {
  const canvas = document.createElement("canvas");
  const svg = element("svg", { tabindex: 0, role: "application", "aria-describedby": "readout" });
  const bar = host.querySelector(".bar");
  const holder = host.querySelector(".holder");
  holder.append(canvas, svg);
  bar.querySelector(".strip").style.background = gradient(field);
  let shown = null; // { plane, x, y, edgesX, edgesY }
  let dragFrom = null;

  function cellAt(event) {
    if (!shown) return null;
    const box = svg.getBoundingClientRect();
    const x = shown.x.invert(event.clientX - box.left);
    const y = shown.y.invert(event.clientY - box.top);
    const j = shown.edgesX.findIndex((e) => x < e) - 1;
    const i = shown.edgesY.findIndex((e) => y < e) - 1;
    return i >= 0 && j >= 0 ? [i, j] : null;
  }

  svg.addEventListener("pointermove", (event) => {
    const at = cellAt(event);
    if (!at) return;
    on.hover(...at);
    if (dragFrom && (at[0] !== dragFrom[0] || at[1] !== dragFrom[1])) {
      on.drag(straight(dragFrom, at, shown.plane), false);
      dragFrom.moved = true;
    }
  });
  svg.addEventListener("pointerleave", () => on.leave());
  svg.addEventListener("pointerdown", (event) => {
    dragFrom = event.button === 0 ? cellAt(event) : null;
    if (dragFrom && event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", (event) => {
    const at = cellAt(event);
    if (dragFrom?.moved && at) on.drag(straight(dragFrom, at, shown.plane), true);
    else if (dragFrom && at) on.pick(...at);
    dragFrom = null;
  });
  // The finger scrolls the page instead.
  svg.addEventListener("pointercancel", () => {
    if (dragFrom?.moved) on.undo();
    dragFrom = null;
    on.leave();
  });
  svg.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key in moves) on.move(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") on.train(event.shiftKey);
    else return;
    event.preventDefault();
  });

  function draw(plane, { cursor, theory, intervals, own, label }) {
    const box = fit(svg);
    const edgesX = edges(plane.batch);
    const edgesY = edges(plane.lr);
    const x = makeScale([edgesX[0], edgesX.at(-1)], [box.left, box.right]);
    const y = makeScale([edgesY[0], edgesY.at(-1)], [box.bottom, box.top]);
    shown = { plane, x, y, edgesX, edgesY };
    const range = rangeOf(plane, field);
    paint(canvas, plane, { box, x, y, edgesX, edgesY, range });
    svg.setAttribute("aria-label", label);
    const inside = clipped(box);
    if (plane.lines) inside.append(...measured(plane.lines, x, y, box, intervals));
    if (theory) inside.append(...predicted(theory, x, y, box));
    if (own) inside.append(...own(x, y, box));
    if (cursor) inside.append(...cursorMarks(cursor, plane, { x, y, edgesX, edgesY, box }));
    if (field === "value") inside.append(...names(plane, x, y));
    if (field === "error") inside.append(...lowest(plane, x, y));
    svg.replaceChildren(axes(box, { x, y, xLabel: "batch size", yLabel: "learning rate" }), inside);
    labelBar(bar, plane, field, range, cursor);
  }

  return { draw };

  function paint(target, plane, { box, x, y, edgesX, edgesY, range }) {
    const ratio = window.devicePixelRatio || 1;
    target.width = box.width * ratio;
    target.height = box.height * ratio;
    const context = target.getContext("2d");
    context.scale(ratio, ratio);
    const style = getComputedStyle(host);
    plane.cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const [left, right] = [Math.round(x(edgesX[j])), Math.round(x(edgesX[j + 1]))];
        const [top, bottom] = [Math.round(y(edgesY[i + 1])), Math.round(y(edgesY[i]))];
        const value = cell?.[field];
        if (value > 0)
          context.fillStyle = colour(field, (Math.log(value) - range[0]) / (range[1] - range[0]));
        else context.fillStyle = style.getPropertyValue(cell ? "--lost" : "--empty");
        context.fillRect(left, top, right - left, bottom - top);
        if (cell?.status === "diverged") {
          context.fillStyle = style.getPropertyValue("--ink");
          context.beginPath();
          context.arc((left + right) / 2, (top + bottom) / 2, 3, 0, 7);
          context.fill();
        }
      }),
    );
  }
}

function labelBar(bar, plane, field, range, cursor) {
  const show = field === "error" ? (v) => `${digits(100 * v, 2)} %` : (v) => digits(v, 2);
  bar.querySelector(".low").textContent = show(Math.exp(range[0]));
  bar.querySelector(".high").textContent = show(Math.exp(range[1]));
  const value = cursor && plane.cells[cursor[0]]?.[cursor[1]]?.[field];
  const pin = bar.querySelector(".pin");
  pin.hidden = !(value > 0);
  if (value > 0)
    pin.style.left = `${(100 * (Math.log(value) - range[0])) / (range[1] - range[0])}%`;
}

// Cells from one to another along a row (the same lr) or a diagonal (the same lr/batch).
export function straight([i, j], [k, l], plane) {
  const across = l - j;
  const up = k - i;
  const diagonal = Math.abs(up) > Math.abs(across) / 2;
  const count = diagonal ? Math.max(Math.abs(up), Math.abs(across)) : Math.abs(across);
  const side = Math.sign(diagonal ? up || across : across);
  const path = [];
  for (let n = 0; n <= count; n++) {
    const at = [i + (diagonal ? side * n : 0), j + side * n];
    if (plane.cells[at[0]]?.[at[1]] !== undefined) path.push(at);
  }
  return path;
}

const halo = (d, kind) => [
  element("path", { d, class: `${kind} halo` }),
  element("path", { d, class: kind }),
];

function measured(lines, x, y, box, intervals) {
  const out = [];
  const log = Math.log2;
  const star = lines.criticalBatch;
  const line = lines.gdLine ?? [];
  const foot = star && line.length ? y(log(lineAt(line, star.value))) : box.bottom;
  if (intervals && star && Number.isFinite(star.low) && Number.isFinite(star.high)) {
    const [left, right] = [x(log(star.low)), x(log(star.high))];
    out.push(
      element("rect", {
        x: left,
        width: Math.max(right - left, 1),
        y: box.top,
        height: foot - box.top,
        class: "band",
      }),
    );
  }
  if (intervals) {
    for (const p of line) {
      if (p.low > 0)
        out.push(
          ...halo(
            linePath([
              [x(log(p.batch)), y(log(p.low))],
              [x(log(p.batch)), y(log(p.high))],
            ]),
            "bar-line",
          ),
        );
    }
  }
  if (line.length)
    out.push(...halo(linePath(line.map((p) => [x(log(p.batch)), y(log(p.lr))])), "measured"));
  if (star) {
    out.push(
      ...halo(
        linePath([
          [x(log(star.value)), foot],
          [x(log(star.value)), box.top],
        ]),
        "measured",
      ),
    );
    out.push(text(x(log(star.value)) + 6, box.top + 16, "B*", { class: "on-plane" }));
  }
  return out;
}

function lineAt(line, batch) {
  const after = line.findIndex((p) => p.batch >= batch);
  if (after <= 0) return (after === 0 ? line[0] : line.at(-1)).lr;
  const [p, q] = [line[after - 1], line[after]];
  const part = Math.log(batch / p.batch) / Math.log(q.batch / p.batch);
  return p.lr * (q.lr / p.lr) ** part;
}

// The theory's lines: lr = T_c batch up to B*, constant from there on; B* above.
function predicted(theory, x, y, box) {
  const [star, cold] = [Math.log2(theory.criticalBatch), Math.log2(theory.criticalTemperature)];
  const [left, right] = [x.domain[0], x.domain[1]];
  const bend = star + cold;
  const line = [
    [left, left + cold],
    [star, bend],
    [Math.max(right, star), bend],
  ];
  return [
    ...halo(linePath(line.map(([a, b]) => [x(a), y(b)])), "theory"),
    ...halo(
      linePath([
        [x(star), y(bend)],
        [x(star), box.top],
      ]),
      "theory",
    ),
  ];
}

// Each name where its regime is widest.
function names(plane, x, y) {
  const out = [];
  for (const name of Object.keys(TARGETS)) {
    const mine = [];
    const others = [];
    plane.cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const at = [x(Math.log2(plane.batch[j])), y(Math.log2(plane.lr[i]))];
        (cell?.regime === name ? mine : others).push(at);
      }),
    );
    for (const p of plane.lines?.gdLine ?? [])
      others.push([x(Math.log2(p.batch)), y(Math.log2(p.lr))]);
    if (mine.length < 4) continue;
    const half = 4.2 * SHORT[name].length;
    const [left, right] = [x(x.domain[0]) + half + 4, x(x.domain[1]) - half - 4];
    const [bottom, top] = [y(y.domain[0]) - 14, y(y.domain[1]) + 30];
    const clear = ([a, b]) => {
      const far = others.map(([p, q]) => Math.max(Math.abs(p - a) / half, Math.abs(q - b) / 16));
      const border = Math.min(
        (a - left) / half,
        (right - a) / half,
        (bottom - b) / 16,
        (b - top) / 16,
      );
      return Math.min(...far, border + 1.5, 4);
    };
    const scores = mine.map(clear);
    const good = mine.filter((_, k) => scores[k] >= Math.max(...scores) - 0.1);
    // Of equally good places, the one nearest to their middle.
    const middle = [0, 1].map((k) => good.reduce((sum, p) => sum + p[k], 0) / good.length);
    const far = (p) => Math.hypot(p[0] - middle[0], p[1] - middle[1]);
    const [a, b] = good.reduce((p, q) => (far(q) < far(p) ? q : p));
    out.push(
      text(Math.min(Math.max(a, left), right), b + 4, SHORT[name], {
        class: "on-plane name",
        "text-anchor": "middle",
      }),
    );
  }
  return out;
}

function lowest(plane, x, y) {
  let best = null;
  const most = Math.max(...plane.cells.flat().map((c) => c?.fitted ?? 0));
  plane.cells.forEach((row, i) =>
    row.forEach((cell, j) => {
      if (cell?.error > 0 && cell.fitted === most && !(best?.error <= cell.error))
        best = { error: cell.error, i, j };
    }),
  );
  if (!best) return [];
  const at = [x(Math.log2(plane.batch[best.j])), y(Math.log2(plane.lr[best.i]))];
  return [star(...at, 8, "best")];
}

function cursorMarks([i, j], plane, { x, y, edgesX, edgesY, box }) {
  const [b, r] = [Math.log2(plane.batch[j]), Math.log2(plane.lr[i])];
  const corner = { x: x(edgesX[j]), y: y(edgesY[i + 1]) };
  const size = { width: x(edgesX[j + 1]) - corner.x, height: y(edgesY[i]) - corner.y };
  const far = 60;
  return [
    element("path", {
      class: "guide",
      d: linePath([
        [box.left, y(r)],
        [box.right, y(r)],
      ]),
    }),
    element("path", {
      class: "guide",
      d: linePath([
        [x(b - far), y(r - far)],
        [x(b + far), y(r + far)],
      ]),
    }),
    element("rect", { ...corner, ...size, class: "cursor halo" }),
    element("rect", { ...corner, ...size, class: "cursor" }),
  ];
}
