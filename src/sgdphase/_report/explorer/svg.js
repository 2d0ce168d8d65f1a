// SVG by hand: elements, and logarithmic axes.

import { tickLabel } from "./numbers.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

export const text = (x, y, content, attributes = {}) => element("text", { x, y, ...attributes }, content);

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

// Whole exponents with about `room` pixels between them.
export function ticks(scale, room) {
  const [low, high] = scale.domain;
  const pixels = Math.abs(scale(high) - scale(low));
  const step = Math.max(1, Math.ceil(((high - low) * room) / pixels));
  const out = [];
  for (let n = Math.ceil(low / step - 1e-9) * step; n <= high + 1e-9; n += step) out.push(n);
  return out;
}

// Two axes around a box { left, right, top, bottom }, with their labels.
export function axes(box, { x, y, xLabel, yLabel, base = 2, grid = false }) {
  const group = element("g", { class: "axes" });
  for (const n of ticks(x, 46)) {
    const at = x(n);
    if (grid) group.append(element("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }));
    group.append(element("line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }));
    group.append(text(at, box.bottom + 17, tickLabel(base, n), { "text-anchor": "middle" }));
  }
  for (const n of ticks(y, 28)) {
    const at = y(n);
    if (grid) group.append(element("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }));
    group.append(element("line", { x1: box.left - 4, x2: box.left, y1: at, y2: at }));
    group.append(text(box.left - 7, at + 4, tickLabel(base, n), { "text-anchor": "end" }));
  }
  const { left, right, top, bottom } = box;
  group.append(element("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "frame" }));
  const middle = (top + bottom) / 2;
  group.append(text((left + right) / 2, bottom + 35, xLabel, { class: "label", "text-anchor": "middle" }));
  group.append(text(13, middle, yLabel, { class: "label", "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }));
  return group;
}
