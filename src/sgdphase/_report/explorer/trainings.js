// What the workers are asked for: the trainings of the charts, and the cells of planes.

import { collapseLives } from "./collapse.js";
import { CURVES } from "./colours.js";
import { fill, keyOf, makeLive, planeOf } from "./live.js";

// Trainings that are traced in time. `done` is called when one ends.
export function makeRuns(pool, done) {
  const nameOf = (run) => [run.key, run.lr, run.batch].join();

  function ask(run, setting) {
    const given = { ...setting, lr: run.lr, batch: run.batch, seed: 0 };
    pool.ask("traced", given, { urgent: true }).then((result) => {
      run.result = result;
      done();
    });
    return run;
  }

  const runs = { list: [] };
  // These pairs of lr and batch at a setting; what was trained before is kept.
  runs.set = (pairs, setting) => {
    const key = keyOf(setting);
    const known = new Map(runs.list.map((run) => [nameOf(run), run]));
    runs.list = pairs.map(([lr, batch], k) => {
      const run =
        known.get(nameOf({ key, lr, batch })) ?? ask({ key, lr, batch, result: null }, setting);
      run.colour = CURVES[k];
      return run;
    });
  };
  return runs;
}

// Planes that are simulated. `progress` is called after each cell.
export function makeFiller(pool, progress) {
  const lives = new Map();
  const filler = { collapse: null };
  let wanted = "";

  filler.live = (setting) => {
    const key = keyOf(setting);
    if (!lives.has(key)) lives.set(key, makeLive(setting));
    return lives.get(key);
  };

  filler.plane = (setting) => {
    const live = filler.live(setting);
    live.plane ??= planeOf(live, "live");
    return live.plane;
  };

  // Ask for the cells of a kind ("live", "collapse" or "") of a setting, and for no others.
  filler.want = (kind, setting) => {
    const now = kind && `${kind} ${keyOf(setting)}`;
    if (now === wanted) return;
    pool.drop("fill");
    wanted = now;
    if (kind === "collapse") {
      if (filler.collapse?.key !== now) {
        filler.collapse = {
          key: now,
          lives: collapseLives(setting),
          part: filler.collapse?.part ?? 0,
        };
      }
      for (const live of filler.collapse.lives) fill(live, pool, "fill", progress);
    } else if (kind === "live") {
      const live = filler.live(setting);
      fill(live, pool, "fill", (done, total) => {
        live.progress = [done, total];
        live.plane = null;
        progress();
      });
    }
  };
  return filler;
}
