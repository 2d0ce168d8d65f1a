// The view as the fragment of the address, so that a link reproduces it.

export const LIMITS = {
  size: { low: 6, high: 12, step: 1, at: 10, name: "training points P", power: true },
  dim: { low: 3, high: 7, step: 1, at: 5, name: "dimensions d", power: true },
  chi: { low: 0, high: 4, step: 0.25, at: 1, name: "chi: few points at the boundary" },
  margin: {
    low: -10,
    high: -2,
    step: 1,
    at: -7,
    name: "margin every point must have",
    power: true,
  },
  momentum: { low: 0, high: 0.9, step: 0.1, at: 0, name: "momentum" },
};

export const START = {
  plane: "stored",
  size: 1024,
  dim: 32,
  chi: 1,
  margin: 2 ** -7,
  momentum: 0,
  lr: 4,
  batch: 16,
  runs: [[4, 16]],
  collapse: false,
  step: 0,
};

export function toFragment(state) {
  const parts = [];
  for (const [name, value] of Object.entries(state)) {
    if (name === "runs") {
      const written = value.map((r) => r.join(":")).join();
      if (written !== START.runs.map((r) => r.join(":")).join()) parts.push(`runs=${written}`);
    } else if (value !== START[name]) parts.push(`${name}=${value === true ? 1 : value}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
}

// Beyond these a training would tell nothing, and take long.
const RATES = [2 ** -20, 2 ** 20];
const BATCHES = [1, 8192];
const MOST_RUNS = 8;

const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

// Pairs of lr and batch that can be trained with `size` points, without repeats; the last few.
export function possibleRuns(pairs, size) {
  const possible = pairs.map(([lr, batch]) => [
    clamp(lr, RATES),
    Math.round(clamp(batch, [1, size])),
  ]);
  const first = ([lr, batch]) => possible.findIndex((q) => q[0] === lr && q[1] === batch);
  return possible.filter((pair, k) => first(pair) === k).slice(-MOST_RUNS);
}

// What cannot be read is left at its default: a link from elsewhere must not break the page.
export function fromFragment(fragment) {
  const state = { ...START };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name, text = ""] = part.split("=");
    if (!(name in START)) continue;
    const number = Number(text);
    if (name === "plane") state.plane = ["stored", "live", "own"].includes(text) ? text : "stored";
    else if (name === "collapse") state.collapse = text === "1";
    else if (name === "runs") {
      const pairs = text.split(",").map((p) => p.split(":").map(Number));
      state.runs = pairs.filter((p) => p.length === 2 && p.every((v) => v > 0));
    } else if (name in LIMITS) state[name] = inLimits(name, number);
    else if (name === "step")
      state.step = Number.isInteger(number) && number >= 0 && number <= 6 ? number : 0;
    else if (number > 0) state[name] = number;
  }
  state.lr = clamp(state.lr, RATES);
  state.batch = clamp(state.batch, BATCHES);
  state.runs = possibleRuns(state.runs, state.size);
  // Planes of several sizes are simulated, at the setting of the sliders.
  if (state.collapse) state.plane = "live";
  return state;
}

function inLimits(name, value) {
  const { low, high, power } = LIMITS[name];
  const at = power ? Math.log2(value) : value;
  if (!Number.isFinite(at)) return START[name];
  const kept = clamp(at, [low, high]);
  return power ? 2 ** Math.round(kept) : kept;
}
