// How numbers are written.

const SUPER = {
  "-": "⁻",
  0: "⁰",
  1: "¹",
  2: "²",
  3: "³",
  4: "⁴",
  5: "⁵",
  6: "⁶",
  7: "⁷",
  8: "⁸",
  9: "⁹",
};

// Three significant digits without an exponent where that is short.
export function digits(value, count = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e7 || size < 1e-4) {
    const [head, tail] = value.toExponential(count - 1).split("e");
    return `${Number(head)} × 10${raised(Number(tail))}`;
  }
  return String(Number(value.toPrecision(Math.max(count, Math.ceil(Math.log10(size + 1))))));
}

export const raised = (n) => String(n).replace(/./g, (c) => SUPER[c]);

// A power of two: as a number if it is from 1/16 to 8192, else as 2ⁿ.
export function power(value) {
  const n = Math.log2(value);
  if (Math.abs(n - Math.round(n)) > 1e-6) return digits(value);
  if (n >= 0 && n <= 13) return String(2 ** Math.round(n));
  if (n < 0 && n >= -4) return String(2 ** Math.round(n));
  return `2${raised(Math.round(n))}`;
}

export const percent = (value, count = 3) =>
  Number.isFinite(value) ? `${digits(100 * value, count)} %` : "unknown";

// A power of ten or of two for the ticks of an axis.
export const tickLabel = (base, n) =>
  base === 2 ? power(2 ** n) : Math.abs(n) < 3 ? digits(10 ** n) : `10${raised(n)}`;
