// Planes that come with the page: columns over the cells, written by `plane_data.py`.

const FIELDS = [
  "value",
  "valueSd",
  "error",
  "errorSd",
  "steps",
  "confidence",
  "regime",
  "fitted",
  "runs",
];

export function unpack(packed) {
  const { lr, batch, lines, title } = packed;
  const cells = lr.map((_, i) =>
    batch.map((_, j) => {
      const at = i * batch.length + j;
      if (!packed.runs[at]) return null;
      const cell = Object.fromEntries(FIELDS.map((name) => [name, packed[name]?.[at] ?? NaN]));
      const status = cell.regime === "diverged" ? "diverged" : cell.fitted ? "fitted" : "budget";
      return { ...cell, status };
    }),
  );
  return { lr, batch, lines, title, cells };
}

export function settingOf({ setting }) {
  const { train_size: size, dim, chi, margin, momentum } = setting;
  return { size, dim, chi, margin, momentum };
}
