// Colour maps whose lightness rises from end to end, so that they can be read without colour, too:
// one from violet over green to yellow, and one from blue over grey to yellow.

const MAPS = {
  value: [
    "#3b0f5e",
    "#45307e",
    "#3c5389",
    "#2f708d",
    "#27898c",
    "#25a184",
    "#4ab970",
    "#86cd52",
    "#c6dc3c",
    "#f7e84a",
  ],
  error: [
    "#0b2559",
    "#1f3f74",
    "#43566f",
    "#5f6b71",
    "#797f78",
    "#949474",
    "#b1aa6b",
    "#cfc15c",
    "#ecda4c",
    "#fff16a",
  ],
};
const TABLES = Object.fromEntries(
  Object.entries(MAPS).map(([name, map]) => [name, map.map(parse)]),
);

function parse(text) {
  const n = parseInt(text.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

// The colour at `part` in [0, 1].
export function colour(map, part) {
  const table = TABLES[map];
  const at = Math.min(Math.max(part, 0), 1) * (table.length - 1);
  const k = Math.min(Math.floor(at), table.length - 2);
  const mix = table[k].map((c, i) => Math.round(c + (at - k) * (table[k + 1][i] - c)));
  return `rgb(${mix.join()})`;
}

export const gradient = (map) => `linear-gradient(to right, ${MAPS[map].join()})`;

// Of curves: Okabe and Ito's, which are distinct for colour-blind readers, on light and dark.
export const CURVES = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#e69f00",
  "#56b4e9",
  "#8c564b",
  "#7f7f7f",
];
