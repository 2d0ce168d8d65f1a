// The page: one state, a function that shows it, and the actions that change it.

import { drawCollapse, drawCollapsedCurves, collapseLives, collapsePoints } from "./collapse.js";
import { CURVES } from "./colours.js";
import { boundaries, fill, keyOf, makeLive, planeOf } from "./live.js";
import { digits, power } from "./numbers.js";
import { overlay, planeOfDiagnosis, readDiagnosis, readOwn } from "./own.js";
import { advice, drawOwn, ownPicture } from "./answer.js";
import { drawChips, drawCut, drawTrajectory, drawUnfitted } from "./panels.js";
import { makePlaneView } from "./plane.js";
import { fillReadout, replaceIfNew, tag } from "./readout.js";
import { LIMITS, fromFragment, toFragment } from "./state.js";
import { element } from "./svg.js";
import { STEPS } from "./tour.js";
import { makePool, serve } from "./worker.js";

const MOST_RUNS = 8;
const ALIGNMENT = "Trained until every point is fitted. Alignment is how clearly labels are learnt: the mean of label times output over new data.";
// Between two pictures of a plane that fills up: drawing must not slow down training.
const PAUSE = 200;
const $ = (id) => document.getElementById(id);
// Only what changes: a screen reader speaks every change of a live region.
const put = (id, words) => {
  if ($(id).textContent !== words) $(id).textContent = words;
};

// The same script is the page's and its workers'.
if (typeof document === "undefined") serve(self);
else startPage();

function startPage() {
  const data = JSON.parse($("data").textContent);
  const stored = unpack(data.stored);
  const workers = Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 4);
  const pool = makePool($("program").textContent, workers);
  const lives = new Map(); // by setting
  const view = fromFragment(location.hash);
  let hover = null; // a cell under the pointer
  let runs = []; // trainings made here
  let own = null; // { plane, diagnosis }
  let ownChoices = [];
  let collapse = null; // { key, lives, part }
  let filling = "";

  const setting = () => ({ size: view.size, dim: view.dim, chi: view.chi, margin: view.margin, momentum: view.momentum });
  const storedSetting = { size: data.stored.setting.train_size, dim: data.stored.setting.dim, chi: data.stored.setting.chi, margin: data.stored.setting.margin, momentum: 0 };
  const shownSetting = () => ({ stored: storedSetting, live: setting(), own: null })[view.plane];

  function liveNow() {
    const key = keyOf(setting());
    if (!lives.has(key)) lives.set(key, makeLive(setting()));
    return lives.get(key);
  }

  function planeNow() {
    if (view.plane === "stored") return stored;
    if (view.plane === "own" && own) return own.plane;
    const live = liveNow();
    live.plane ??= planeOf(live, "live");
    return live.plane;
  }

  // The cell nearest to the chosen batch and learning rate.
  function chosen(plane) {
    const nearest = (grid, value) => grid.reduce((best, v, k) => (Math.abs(Math.log(v / value)) < Math.abs(Math.log(grid[best] / value)) ? k : best), 0);
    return [nearest(plane.lr, view.lr), nearest(plane.batch, view.batch)];
  }

  const on = {
    hover: (i, j) => {
      if (hover?.[0] === i && hover?.[1] === j) return;
      hover = [i, j];
      later();
    },
    leave: () => {
      hover = null;
      later();
    },
    pick: (i, j) => choose(i, j, true),
    drag: (cells, ended) => {
      const plane = planeNow();
      const line = cells.slice(0, MOST_RUNS).map(([i, j]) => [plane.lr[i], plane.batch[j]]);
      setRuns(line);
      if (ended) [view.lr, view.batch] = line.at(-1);
    },
    move: (di, dj) => {
      const plane = planeNow();
      const [i, j] = chosen(plane);
      hover = null;
      choose(Math.min(Math.max(i + di, 0), plane.lr.length - 1), Math.min(Math.max(j + dj, 0), plane.batch.length - 1), false);
    },
    train: (add) => setRuns([...(add ? view.runs : []), [view.lr, view.batch]]),
  };
  const views = { value: makePlaneView($("plane-value"), "value", on), error: makePlaneView($("plane-error"), "error", on) };

  function choose(i, j, train) {
    const plane = planeNow();
    [view.lr, view.batch] = [plane.lr[i], plane.batch[j]];
    if (train) setRuns([[view.lr, view.batch]]);
    else show();
  }

  // Trainings are made at the setting of the sliders, and stop at its number of points.
  function setRuns(pairs) {
    if (view.plane === "own") pairs = [];
    const possible = pairs.map(([lr, batch]) => [lr, Math.min(batch, view.size)]);
    view.runs = possible.filter((p, k) => possible.findIndex((q) => q[0] === p[0] && q[1] === p[1]) === k).slice(-MOST_RUNS);
    train();
    show();
  }

  function train() {
    const key = keyOf(setting());
    const known = new Map(runs.map((run) => [`${run.key},${run.lr},${run.batch}`, run]));
    runs = view.runs.map(([lr, batch], k) => {
      const name = `${key},${lr},${batch}`;
      const run = known.get(name) ?? { key, lr, batch, result: null, asked: false };
      run.colour = CURVES[k];
      if (!run.asked) {
        run.asked = true;
        pool.ask("traced", { ...setting(), lr, batch, seed: 0 }, { urgent: true }).then((result) => {
          run.result = result;
          later();
        });
      }
      return run;
    });
  }

  // Cells of the live plane, unless they are being trained already.
  function refill() {
    const wanted = view.collapse ? `collapse ${keyOf(setting())}` : view.plane === "live" ? keyOf(setting()) : "";
    if (wanted === filling) return;
    pool.drop("fill");
    filling = wanted;
    if (!wanted) return;
    if (view.collapse) {
      if (collapse?.key !== wanted) collapse = { key: wanted, lives: collapseLives(setting()), part: collapse?.part ?? 0 };
      for (const live of collapse.lives) fill(live, pool, "fill", soon);
      return;
    }
    const live = liveNow();
    fill(live, pool, "fill", (done, total) => {
      live.progress = [done, total];
      live.plane = null;
      soon();
    });
  }

  let waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      show();
    });
  }

  let paused = 0;
  function soon() {
    paused ||= setTimeout(() => {
      paused = 0;
      later();
    }, PAUSE);
  }

  function show() {
    refill();
    const plane = planeNow();
    const cursor = hover && plane.cells[hover[0]]?.[hover[1]] !== undefined ? hover : chosen(plane);
    const given = shownSetting();
    const theory = given && boundaries(given);
    showChoice();
    $("pair").hidden = view.collapse;
    $("collapsed").hidden = !view.collapse;
    if (view.collapse) showCollapse();
    else {
      const answered = view.plane === "own" && own?.diagnosis;
      const look = { cursor: answered ? null : cursor, theory, intervals: $("intervals").checked, own: answered ? overlay(own.diagnosis) : null };
      const how = "Arrow keys move the cursor, Enter trains the cell, Shift and Enter adds a training.";
      views.value.draw(plane, { ...look, label: `Alignment in the plane of batch size and learning rate. ${how}` });
      $("plane-value").querySelector(".name").textContent = answered ? "Learning rates that learn the same" : "Alignment";
      $("pair").classList.toggle("answered", Boolean(answered));
      if (answered) ownPicture($("plane-error"), own.diagnosis);
      else views.error.draw(plane, { ...look, label: `Test error in the plane of batch size and learning rate. ${how}` });
    }
    showCell(plane, cursor);
    showScales(plane, theory);
    drawChips($("chips"), runs);
    drawTrajectory($("trajectory"), runs);
    drawUnfitted($("unfitted"), runs);
    drawCut($("cut"), $("cut-note"), plane, cursor[0], given, theory);
    showTour();
    showSliders();
    const fragment = toFragment(view);
    if (fragment !== location.hash) history.replaceState(null, "", fragment || location.pathname + location.search);
  }

  function showCell(plane, cursor) {
    $("cell-title").textContent = view.collapse ? "Collapse" : view.plane === "own" && own?.diagnosis ? "Your training" : "This cell";
    const say = (title, ...words) => replaceIfNew($("readout"), tag("p", title, "where"), ...words.map((line) => tag("p", line)));
    if (view.collapse) say("Three planes at once", "By theory, alignment over its value in gradient descent is the largest of 1, T/T_c and (T/T_c)(batch/B*), at every P.", "T is lr/batch.");
    else if (view.plane === "own" && own?.diagnosis) say(`batch ${digits(own.diagnosis.batch)}, lr ${digits(own.diagnosis.lr)}`, advice(own.diagnosis), "Line: learning rates that learn the same, with their intervals. Crosses: no learning rate does.");
    else fillReadout($("readout"), plane, cursor);
  }

  function showChoice() {
    for (const name of ["stored", "live", "own"]) $(`show-${name}`).setAttribute("aria-pressed", String(view.plane === name && !view.collapse));
    $("show-own").hidden = !own;
    $("collapse").setAttribute("aria-pressed", String(view.collapse));
    const live = lives.get(keyOf(setting()));
    const [done, total] = live?.progress ?? [0, 1];
    const words = {
      stored: `Perceptron with P = 8192 points in d = 128 dimensions, chi = 1, margin 2⁻⁷; five seeds per cell. ${ALIGNMENT}`,
      live: `Simulated in this page at the setting of the sliders: ${done < total ? `${Math.round((100 * done) / total)} % of the trainings done` : "three seeds per cell"}. ${ALIGNMENT}`,
      own: own ? `From ${own.plane.title}.` : "",
    };
    $("plane-note").textContent = view.collapse
      ? "Planes of three numbers of points, simulated here. Each mark is a training; its shape says P. In units of B* and T_c, marks at the same place have the same colour. " + collapseProgress()
      : words[view.plane];
    $("live-note").textContent = `${comparison(runs)}Trained here with P = ${view.size}, d = ${view.dim}, chi = ${view.chi}, margin ${power(view.margin)}${view.momentum ? `, momentum ${view.momentum}` : ""}, one seed.`;
    $("train-cell").disabled = $("train-row").disabled = $("train-diagonal").disabled = view.plane === "own" || view.collapse;
    showLegend();
  }

  function collapseProgress() {
    const cells = collapse.lives.flatMap((live) => live.results.flat(2));
    const done = cells.filter(Boolean).length;
    return done < cells.length ? `${Math.round((100 * done) / cells.length)} % of the trainings done.` : "";
  }

  function showLegend() {
    const sample = (kind) => element("svg", { "aria-hidden": "true", viewBox: "0 0 34 14" }, ...[].concat(kind));
    const line = (kind) => element("path", { class: kind, d: "M1 7H33" });
    const entries = view.collapse
      ? collapse.lives.map((live, k) => [element(k ? "rect" : "circle", k ? { x: 10, y: 1, width: 12, height: 12, fill: CURVES[k], ...(k === 2 ? { transform: "rotate(45 16 7)" } : {}) } : { cx: 16, cy: 7, r: 6, fill: CURVES[0] }), `P = ${live.setting.size}`])
      : view.plane === "own" && own?.diagnosis
        ? [
          [[element("path", { class: "own-path", d: "M1 7H33" }), element("circle", { cx: 17, cy: 7, r: 5, class: "own-point" })], "learns the same, with interval"],
          [element("path", { class: "own-none", d: "M12 2l10 10m0 -10l-10 10" }), "no learning rate does"],
          [element("path", { class: "own-limit", d: "M17 0V14" }), "largest batch, with interval"],
        ]
        : [
          [[element("rect", { width: 34, height: 14, fill: "#9aa2ab" }), line("measured halo"), line("measured")], "measured boundary"],
          [line("theory"), "theory, no fit"],
          [element("path", { class: "guide", style: "stroke: var(--soft)", d: "M1 7H33" }), "same lr; same lr/batch"],
          [element("rect", { x: 8, width: 18, height: 14, style: "fill: var(--lost)" }), "not finished"],
        ];
    $("legend").replaceChildren(...entries.map(([picture, words]) => { const item = tag("li"); item.append(sample(picture), words); return item; }));
  }

  function showScales(plane, theory) {
    const star = plane.lines?.criticalBatch;
    const between = star && Number.isFinite(star.low) && star.low !== null ? ` [${digits(star.low)}, ${digits(star.high)}]` : "";
    const limit = view.plane === "own" ? own?.diagnosis?.limit : null;
    if (limit) {
      return putScales([["largest batch that learns the same", limit.high === null ? `${digits(limit.value)} or more` : `${digits(limit.value)} [${digits(limit.low)}, ${digits(limit.high)}]`]]);
    }
    const rows = [["critical batch B*, measured", star ? digits(star.value) + between : "not yet"]];
    if (theory) rows.push(["B* by theory", digits(theory.criticalBatch)], ["critical lr/batch T_c, by theory", digits(theory.criticalTemperature)]);
    if (view.collapse) rows.shift();
    putScales(rows);
  }

  function putScales(rows) {
    const pairs = rows.map(([a, b]) => {
      const pair = tag("div");
      pair.append(tag("dt", a), tag("dd", b));
      return pair;
    });
    $("scales").replaceChildren(...pairs);
  }

  function showCollapse() {
    const points = collapsePoints(collapse.lives);
    drawCollapse($("collapse-plane"), points, collapse.part);
    drawCollapsedCurves($("collapse-curves"), points, collapse.part > 0.5, CURVES);
    $("collapse-name").textContent = collapse.part > 0.5 ? "Colour: alignment over its GD value" : "Colour: alignment";
    if (collapse.part === 0 && !collapse.moving) moveAxes(1);
  }

  // Axes turn into scaled ones while one watches, unless motion is not wanted.
  function moveAxes(to) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const began = performance.now() + 600;
    collapse.moving = true;
    const step = () => {
      if (!collapse) return;
      collapse.part = still ? to : Math.min(Math.max((performance.now() - began) / 900, 0), 1);
      if (collapse.part < 1 && view.collapse) requestAnimationFrame(step);
      else collapse.moving = false;
      later();
    };
    requestAnimationFrame(step);
  }

  function showTour() {
    const step = STEPS[view.step - 1];
    put("tour-title", step ? `${view.step} of ${STEPS.length}: ${step.title}` : "A tour in six steps");
    put("tour-words", step?.text ?? "What is plotted, noise, the first step, gradient descent, the critical batch, and your own training: a minute in all.");
    $("tour-back").hidden = view.step < 2;
    $("tour-action").hidden = $("tour-end").hidden = !step;
    $("tour-action").textContent = step?.action ?? "";
    $("tour-next").hidden = view.step === STEPS.length;
    $("tour-next").textContent = step ? "Next" : "Start the tour";
  }

  function act(step) {
    const { change, example } = STEPS[step - 1];
    if (example && !own) useOwn(readDiagnosis(data.example, "an example: digits, a small network, 20 epochs"), "");
    Object.assign(view, change);
    if (change.runs?.length) Object.assign(view, { size: 1024, dim: 32, chi: 1, margin: 2 ** -7, momentum: 0 });
    if (collapse && change.collapse) collapse.part = 0;
    setRuns(view.runs);
  }

  function makeSliders() {
    for (const [name, { low, high, step, name: words, power: isPower }] of Object.entries(LIMITS)) {
      const row = tag("div", "", "slider");
      const label = tag("label", words);
      label.htmlFor = `slider-${name}`;
      const value = document.createElement("output");
      value.id = `value-${name}`;
      value.htmlFor = `slider-${name}`;
      const input = Object.assign(document.createElement("input"), { type: "range", id: `slider-${name}`, min: low, max: high, step });
      input.addEventListener("input", () => {
        view[name] = isPower ? 2 ** Number(input.value) : Number(input.value);
        if (view.plane !== "live" && !view.collapse) view.plane = "live";
        train();
        later();
      });
      row.append(label, value, input);
      $("sliders").append(row);
    }
  }

  function showSliders() {
    for (const [name, { power: isPower }] of Object.entries(LIMITS)) {
      const at = isPower ? Math.log2(view[name]) : view[name];
      if (Number($(`slider-${name}`).value) !== at) $(`slider-${name}`).value = at;
      const words = isPower ? power(view[name]) : String(Number(view[name].toFixed(2)));
      $(`value-${name}`).textContent = words;
      $(`slider-${name}`).setAttribute("aria-valuetext", words);
    }
  }

  // What the user brings; several planes can be chosen from.
  function useOwn(read, message) {
    ownChoices = read.kind === "planes" ? read.planes.map((plane) => ({ plane })) : [{ plane: planeOfDiagnosis(read), diagnosis: read }];
    own = ownChoices[0];
    view.plane = "own";
    view.collapse = false;
    if (own.diagnosis) [view.lr, view.batch] = [own.diagnosis.lr, own.diagnosis.batch];
    $("own-message").textContent = message;
    $("own-message").className = "";
    drawOwn($("own-answer"), own.diagnosis, ownChoices, (k) => {
      own = ownChoices[k];
      later();
    });
  }

  function take(file) {
    file.text().then((content) => {
      try {
        useOwn(readOwn(content, file.name), `Shown above: ${file.name}.`);
        setRuns([]);
      } catch (error) {
        $("own-message").textContent = error.message;
        $("own-message").className = "wrong";
      }
    });
  }

  function listen() {
    const click = (id, action) => $(id).addEventListener("click", action);
    for (const name of ["stored", "live", "own"]) click(`show-${name}`, () => { Object.assign(view, { plane: name, collapse: false }); hover = null; show(); });
    click("collapse", () => {
      view.collapse = !view.collapse;
      if (view.collapse && view.plane !== "live") view.plane = "live";
      if (collapse) collapse.part = 0;
      show();
    });
    click("train-cell", () => on.train(false));
    const along = (up) => () => {
      const plane = planeNow();
      const [i, j] = chosen(plane);
      const cells = [-2, -1, 0, 1, 2].map((k) => [plane.lr[i + up * k], plane.batch[j + k]]);
      setRuns(cells.filter(([lr, batch]) => lr && batch));
    };
    click("train-diagonal", along(1));
    click("train-row", along(0));
    click("clear", () => setRuns([]));
    click("tour-next", () => { view.step++; act(view.step); });
    click("tour-back", () => { view.step--; act(view.step); });
    click("tour-end", () => { view.step = 0; show(); });
    click("tour-action", () => act(view.step));
    $("intervals").addEventListener("change", show);
    $("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
    for (const kind of ["dragover", "drop"]) {
      window.addEventListener(kind, (event) => {
        event.preventDefault();
        $("drop").classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
      });
    }
    window.addEventListener("dragleave", () => $("drop").classList.remove("over"));
    window.addEventListener("hashchange", () => {
      Object.assign(view, fromFragment(location.hash));
      if (view.plane === "own" && !own) view.plane = "stored";
      train();
      show();
    });
    new ResizeObserver(later).observe(document.body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  }

  makeSliders();
  listen();
  if (data.own) {
    const wanted = { ...view };
    useOwn(data.own.kind === "planes" ? { kind: "planes", planes: data.own.planes.map(unpack) } : readDiagnosis(data.own.json, data.own.name), "");
    if (location.hash) Object.assign(view, wanted);
  } else if (view.plane === "own") view.plane = "stored";
  train();
  show();
}

// How far several trainings of the same lr/batch, or of the same lr, agree.
function comparison(runs) {
  const ends = runs.map((run) => run.result?.alignment).filter((m) => m > 0);
  if (runs.length < 2 || ends.length < runs.length) return "";
  const same = (f) => runs.every((run) => Math.abs(Math.log(f(run) / f(runs[0]))) < 1e-9);
  const kind = same((r) => r.lr / r.batch) ? "Same lr/batch" : same((r) => r.lr) ? "Same lr" : "All";
  return `${kind}: alignments from ${digits(Math.min(...ends))} to ${digits(Math.max(...ends))}, a factor of ${digits(Math.max(...ends) / Math.min(...ends))}. `;
}

// Columns over the cells become cells.
function unpack(packed) {
  const { lr, batch, lines, title } = packed;
  const names = ["value", "valueSd", "error", "errorSd", "steps", "confidence", "regime", "fitted", "runs"];
  const cells = lr.map((_, i) =>
    batch.map((_, j) => {
      const at = i * batch.length + j;
      if (!packed.runs[at]) return null;
      const cell = Object.fromEntries(names.map((name) => [name, packed[name]?.[at] ?? NaN]));
      return { ...cell, status: cell.regime === "diverged" ? "diverged" : cell.fitted ? "fitted" : "budget" };
    }),
  );
  return { lr, batch, lines, title, cells };
}
