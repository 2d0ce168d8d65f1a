// SVG by hand: elements, and logarithmic axes.

import { digits, tickLabel } from "./numbers.js";

// The name of SVG, asked of the browser: written out it is an address, and a page has none.
let known = "";
function namespace() {
  if (!known) {
    const template = document.createElement("template");
    template.innerHTML = "<svg></svg>";
    known = template.content.firstChild.namespaceURI;
  }
  return known;
}

export function element(name, attributes = {}, ...children) {
  const node = document.createElementNS(namespace(), name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

export const text = (x, y, content, attributes = {}) =>
  element("text", { x, y, ...attributes }, content);

// The picture fills the element around it; returns the box inside of its axes.
export function fit(svg) {
  const { clientWidth: width, clientHeight: height } = svg.parentElement;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { left: 68, right: width - 10, top: 6, bottom: height - 42, width, height };
}

// Points as the path of a line; a point that is not finite interrupts it.
export function linePath(points) {
  let begun = false;
  return points
    .map(([x, y]) => {
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        begun = false;
        return "";
      }
      const piece = `${begun ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      begun = true;
      return piece;
    })
    .join("");
}

// From a logarithm (in the base of the axis) to pixels.
export function makeScale([low, high], [from, to]) {
  const slope = (to - from) / (high - low);
  const at = (value) => from + (value - low) * slope;
  at.domain = [low, high];
  at.invert = (pixel) => low + (pixel - from) / slope;
  return at;
}

// Places and labels about `room` pixels apart: whole exponents, or, in a narrow range, numbers.
export function ticks(scale, room, base) {
  const [low, high] = scale.domain;
  const pixels = Math.abs(scale(high) - scale(low));
  const step = Math.max(1, Math.ceil(((high - low) * room) / pixels));
  const out = [];
  for (let n = Math.ceil(low / step - 1e-9) * step; n <= high + 1e-9; n += step)
    out.push([n, tickLabel(base, n)]);
  return out.length > 2 ? out : numberTicks(scale, room, base);
}

function numberTicks(scale, room, base) {
  const [low, high] = scale.domain.map((v) => v * Math.log10(base));
  const out = [];
  // Round numbers first.
  for (const m of [1, 2, 5, 3, 7, 1.5, 4, 6, 8, 9, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8]) {
    for (let n = Math.floor(low); n <= high; n++) {
      const at = (n + Math.log10(m)) / Math.log10(base);
      const clear = out.every(([other]) => Math.abs(scale(other) - scale(at)) >= room);
      if (clear && at >= scale.domain[0] && at <= scale.domain[1])
        out.push([at, digits(m * 10 ** n)]);
    }
  }
  return out;
}

// Two axes around a box { left, right, top, bottom }, with their labels.
export function axes(box, { x, y, xLabel, yLabel, base = 2, grid = false }) {
  const group = element("g", { class: "axes" });
  for (const [n, label] of ticks(x, 46, base)) {
    const at = x(n);
    if (grid)
      group.append(element("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }));
    group.append(element("line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }));
    group.append(text(at, box.bottom + 17, label, { "text-anchor": "middle" }));
  }
  for (const [n, label] of ticks(y, 28, base)) {
    const at = y(n);
    if (grid)
      group.append(element("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }));
    group.append(element("line", { x1: box.left - 4, x2: box.left, y1: at, y2: at }));
    group.append(text(box.left - 7, at + 4, label, { "text-anchor": "end" }));
  }
  const { left, right, top, bottom } = box;
  group.append(
    element("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "frame" }),
  );
  const middle = (top + bottom) / 2;
  group.append(
    text((left + right) / 2, bottom + 35, xLabel, { class: "label", "text-anchor": "middle" }),
  );
  group.append(
    text(12, middle, yLabel, {
      class: "label",
      "text-anchor": "middle",
      transform: `rotate(-90 12 ${middle})`,
    }),
  );
  return group;
}

// What is put into it is cut off at a box, with `room` pixels around.
export function clipped({ left, right, top, bottom }, room = 0) {
  const place = {
    x: left - room,
    y: top - room,
    width: right - left + 2 * room,
    height: bottom - top + 2 * room,
  };
  return element("svg", { ...place, viewBox: Object.values(place).join(" ") });
}

const SHAPES = ["circle", "square", "diamond"];

// Of the series with this number.
export function marker(series, x, y, size, attributes) {
  const shape = SHAPES[series % 3];
  if (shape === "circle") return element("circle", { cx: x, cy: y, r: size, ...attributes });
  const half = shape === "square" ? size * 0.88 : size * 0.95;
  const turn = shape === "diamond" ? { transform: `rotate(45 ${x} ${y})` } : {};
  const corner = { x: x - half, y: y - half, width: 2 * half, height: 2 * half };
  return element("rect", { ...corner, ...turn, ...attributes });
}

export function star(x, y, size, kind, attributes = {}) {
  const points = Array.from({ length: 10 }, (_, k) => {
    const radius = k % 2 ? size * 0.42 : size;
    const angle = (Math.PI * k) / 5 - Math.PI / 2;
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`;
  });
  return element("polygon", { points: points.join(" "), class: kind, ...attributes });
}
