// The page: one state (`view`), a function that shows it, and the actions that change it.

import { advice, answerNames, drawOwn, ownPicture } from "./answer.js";
import { collapsePoints, drawCollapse, drawCollapsedCurves } from "./collapse.js";
import { CURVES } from "./colours.js";
import { byId, put, putPairs, replaceIfNew, tag } from "./dom.js";
import { answerEntries, collapseEntries, drawLegend, planeEntries } from "./legend.js";
import { boundaries } from "./live.js";
import { digits } from "./numbers.js";
import { overlay } from "./overlay.js";
import { planeOfDiagnosis, readDiagnosis, readOwn } from "./own.js";
import { drawChips, drawCut, drawTrajectory, drawUnfitted } from "./panels.js";
import { makePlaneView } from "./plane.js";
import { fillReadout } from "./readout.js";
import { makeSliders, showSliders } from "./sliders.js";
import { fromFragment, possibleRuns, toFragment } from "./state.js";
import { settingOf, unpack } from "./stored.js";
import { STEPS, showTour } from "./tour.js";
import {
  COLLAPSE,
  STORED,
  collapseWords,
  comparison,
  liveWords,
  otherWords,
  scaleRows,
  trainedWords,
} from "./words.js";
import { makeFiller, makeRuns } from "./trainings.js";
import { makePool, serve } from "./worker.js";

const PLANES = ["stored", "live", "own"];
// Milliseconds between two pictures of a plane that fills up, and at least this many times what a
// picture takes: drawing must not slow down training.
const PAUSE = 200;
const SHARE = 10;
const HOW = "Arrow keys move the cursor, Enter trains the cell, Shift and Enter adds a training.";

// The same script is the page's and its workers'.
if (typeof document === "undefined") serve(self);
else startPage();

function startPage() {
  const data = JSON.parse(byId("data").textContent);
  const stored = unpack(data.stored);
  const storedSetting = settingOf(data.stored);
  const workers = Math.min(navigator.hardwareConcurrency || 2, 8);
  const pool = makePool(byId("program").textContent, workers);
  const view = fromFragment(location.hash);
  const runs = makeRuns(pool, later);
  const filler = makeFiller(pool, soon);
  let hover = null; // the cell under the pointer
  let own = null; // what the user brought: { plane, diagnosis }
  let waiting = false; // for the next frame
  let undone = null; // trainings before a drag that may be taken back
  let took = 0; // milliseconds, the last picture
  let paused = 0; // the timer of the next picture
  let followed = ""; // the element that stays in sight until the reader acts

  // What is shown

  const setting = () => {
    const { size, dim, chi, margin, momentum } = view;
    return { size, dim, chi, margin, momentum };
  };
  const progress = () => filler.live(setting()).progress ?? [0, 1];
  const answered = () => (view.plane === "own" && own?.diagnosis ? own.diagnosis : null);

  function planeNow() {
    if (view.plane === "stored") return stored;
    if (view.plane === "own" && own) return own.plane;
    return filler.plane(setting());
  }

  // The cell nearest to the chosen batch and learning rate.
  function chosen(plane) {
    const far = (a, b) => Math.abs(Math.log(a / b));
    const nearest = (grid, value) =>
      grid.reduce((best, v, k) => (far(v, value) < far(grid[best], value) ? k : best), 0);
    return [nearest(plane.lr, view.lr), nearest(plane.batch, view.batch)];
  }

  function show() {
    filler.want(view.collapse ? "collapse" : view.plane === "live" ? "live" : "", setting());
    const plane = planeNow();
    const there = hover && plane.cells[hover[0]]?.[hover[1]] !== undefined;
    const cursor = there ? hover : chosen(plane);
    const given = { stored: storedSetting, live: setting(), own: null }[view.plane];
    const theory = given && boundaries(given);
    showParts();
    showNotes(plane, theory);
    if (view.collapse) showCollapse();
    else showPlanes(plane, cursor, theory);
    showCell(plane, cursor);
    showScales(plane, theory);
    drawChips(byId("chips"), runs.list);
    if (!byId("trainings").hidden) {
      drawTrajectory(byId("trajectory"), runs.list);
      drawUnfitted(byId("unfitted"), runs.list);
      drawCut(byId("cut"), byId("cut-note"), plane, cursor[0], given, theory);
    }
    showTour(view.step);
    showSliders(view);
    const fragment = toFragment(view);
    if (fragment !== location.hash) {
      history.replaceState(null, "", fragment || location.pathname + location.search);
    }
    if (followed) bringIntoSight(followed);
  }

  // Only what there is something to show in.
  function showParts() {
    const mine = view.plane === "own";
    for (const name of PLANES) {
      const pressed = view.plane === name && !view.collapse;
      byId(`show-${name}`).setAttribute("aria-pressed", String(pressed));
    }
    byId("collapse").setAttribute("aria-pressed", String(view.collapse));
    byId("show-own").hidden = !own;
    byId("pair").hidden = view.collapse;
    byId("collapsed").hidden = !view.collapse;
    byId("intervals").parentElement.hidden = view.collapse;
    byId("keys").hidden = view.collapse || mine;
    byId("sliders-card").hidden = mine;
    byId("trainings").hidden = view.collapse || Boolean(answered());
    for (const part of document.querySelectorAll(".traced")) part.hidden = mine;
    document.querySelector(".board").classList.toggle("alone", view.collapse || mine);
    document.body.classList.toggle("trained", runs.list.length > 0);
  }

  function showNotes(plane, theory) {
    const words = {
      stored: () => STORED,
      live: () => liveWords(setting(), progress()),
      own: () => (own ? `From ${own.plane.title}.` : ""),
    };
    put("plane-note", view.collapse ? collapseWords(filler.collapse.lives) : words[view.plane]());
    const other = view.plane === "stored" && boundaries(setting()).criticalBatch;
    const trained = comparison(runs.list) + trainedWords(setting()) + otherWords(other);
    put("live-note", runs.list.length ? trained : "");
    const entries = view.collapse
      ? collapseEntries(filler.collapse.lives)
      : answered()
        ? answerEntries(answered())
        : planeEntries(plane, theory);
    drawLegend(byId("legend"), entries);
  }

  function showPlanes(plane, cursor, theory) {
    const diagnosis = answered();
    const intervals = byId("intervals").checked;
    const look = {
      cursor: diagnosis ? null : cursor,
      theory,
      intervals,
      own: diagnosis && overlay(diagnosis, intervals),
    };
    const [name, second] = diagnosis ? answerNames(diagnosis) : ["Alignment", "Test error"];
    byId("plane-value").querySelector(".name").textContent = name;
    byId("plane-error").querySelector(".name").textContent = second;
    byId("plane-error").hidden = !second;
    byId("pair").classList.toggle("answered", Boolean(diagnosis));
    const label = (what) =>
      `${what} in the plane of batch size and learning rate. ${diagnosis ? "" : HOW}`;
    views.value.draw(plane, { ...look, label: label(name) });
    if (!diagnosis) views.error.draw(plane, { ...look, label: label(second) });
    else if (second) ownPicture(byId("plane-error"), diagnosis, intervals);
  }

  function showCell(plane, cursor) {
    const diagnosis = answered();
    const host = byId("readout");
    const say = (title, ...lines) =>
      replaceIfNew(host, tag("p", title, "where"), ...lines.map((line) => tag("p", line)));
    put("cell-title", view.collapse ? "Collapse" : diagnosis ? "Your training" : "This cell");
    if (view.collapse) say(...COLLAPSE);
    else if (diagnosis)
      say(`batch ${digits(diagnosis.batch)}, lr ${digits(diagnosis.lr)}`, advice(diagnosis));
    else fillReadout(host, plane, cursor, view.plane !== "own");
  }

  function showScales(plane, theory) {
    const wanted = !view.collapse && !answered();
    const star = view.collapse ? null : plane.lines?.criticalBatch;
    const count = view.plane === "live" ? progress() : [1, 1];
    const rows = scaleRows(star, theory, answered()?.limit, wanted ? count : [0, 0]);
    putPairs(byId("scales"), rows);
    byId("scales-card").hidden = !rows.length;
  }

  function showCollapse() {
    const { collapse } = filler;
    const points = collapsePoints(collapse.lives);
    const scaled = collapse.part > 0.5;
    drawCollapse(byId("collapse-plane"), byId("collapse-bar"), points, collapse.part);
    drawCollapsedCurves(byId("collapse-curves"), points, scaled, CURVES);
    put("collapse-name", scaled ? "Alignment over its GD value" : "Alignment");
    if (collapse.part === 0 && !collapse.moving) moveAxes();
  }

  // Axes turn into scaled ones while one watches, unless motion is not wanted.
  function moveAxes() {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const start = performance.now() + 600;
    const moved = filler.collapse;
    moved.moving = true;
    const step = () => {
      moved.part = still ? 1 : Math.min(Math.max((performance.now() - start) / 900, 0), 1);
      if (moved.part < 1 && view.collapse) requestAnimationFrame(step);
      else moved.moving = false;
      later();
    };
    requestAnimationFrame(step);
  }

  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const start = performance.now();
      show();
      took = performance.now() - start;
    });
  }

  function soon() {
    const wait = Math.max(PAUSE, SHARE * took);
    paused ||= setTimeout(() => {
      paused = 0;
      later();
    }, wait);
  }

  // Actions

  function setRuns(pairs) {
    view.runs = view.plane === "own" ? [] : possibleRuns(pairs, view.size);
    runs.set(view.runs, setting());
    show();
  }

  // What stands above an element may change its height when a training ends.
  function reveal(id) {
    followed = id;
    bringIntoSight(id);
  }

  // Scrolls as little as shows an element.
  function bringIntoSight(id) {
    const node = byId(id);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // On a phone the pair has no box of its own.
    const shown = node.getClientRects().length ? node : node.querySelector(".holder");
    shown.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  }

  function train(pairs) {
    setRuns(pairs);
    reveal("trajectory");
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
    pick: (i, j) => {
      choose(i, j);
      if (view.plane === "own") show();
      else train([[view.lr, view.batch]]);
    },
    drag: (cells, ended) => {
      if (view.plane === "own") return;
      const plane = planeNow();
      const line = cells.slice(0, 8).map(([i, j]) => [plane.lr[i], plane.batch[j]]);
      undone ??= view.runs;
      if (ended) {
        [view.lr, view.batch] = line.at(-1);
        undone = null;
        train(line);
      } else setRuns(line);
    },
    undo: () => {
      setRuns(undone ?? view.runs);
      undone = null;
    },
    move: (di, dj) => {
      const plane = planeNow();
      const [i, j] = chosen(plane);
      const within = (k, grid) => Math.min(Math.max(k, 0), grid.length - 1);
      hover = null;
      choose(within(i + di, plane.lr), within(j + dj, plane.batch));
      show();
    },
    train: (add) => {
      if (view.plane === "own") return;
      choose(...chosen(planeNow())); // the cell that is shown
      train([...(add ? view.runs : []), [view.lr, view.batch]]);
    },
  };
  const views = {
    value: makePlaneView(byId("plane-value"), "value", on),
    error: makePlaneView(byId("plane-error"), "error", on),
  };

  function choose(i, j) {
    const plane = planeNow();
    [view.lr, view.batch] = [plane.lr[i], plane.batch[j]];
  }

  // Five trainings around the cursor, with the same lr/batch (`up` = 1) or the same lr.
  function trainAlong(up) {
    const plane = planeNow();
    const [i, j] = chosen(plane);
    const cells = [-2, -1, 0, 1, 2].map((k) => [plane.lr[i + up * k], plane.batch[j + k]]);
    train(cells.filter(([lr, batch]) => lr && batch));
  }

  function showPlane(name) {
    Object.assign(view, { plane: name, collapse: false });
    hover = null;
    show();
  }

  function toggleCollapse() {
    view.collapse = !view.collapse;
    view.plane = "live";
    if (filler.collapse) filler.collapse.part = 0;
    show();
  }

  function goTo(step) {
    view.step = step;
    const { change, example, result } = STEPS[step - 1];
    if (example && !own)
      useOwn(readDiagnosis(data.example, "an example: digits, a small network, 20 epochs"));
    Object.assign(view, change);
    // What a step says is true of this setting.
    if (change.runs?.length)
      Object.assign(view, { size: 1024, dim: 32, chi: 1, margin: 2 ** -7, momentum: 0 });
    if (filler.collapse && change.collapse) filler.collapse.part = 0;
    setRuns(view.runs);
    reveal(result);
  }

  // What the user brings; of several planes one is chosen.
  function useOwn(read, message = "") {
    const choices =
      read.kind === "planes"
        ? read.planes.map((plane) => ({ plane, diagnosis: null }))
        : [{ plane: planeOfDiagnosis(read), diagnosis: read }];
    [own] = choices;
    Object.assign(view, { plane: "own", collapse: false });
    if (own.diagnosis) [view.lr, view.batch] = [own.diagnosis.lr, own.diagnosis.batch];
    put("own-message", message);
    byId("own-message").className = "";
    byId("own").classList.add("filled");
    drawOwn(byId("own-answer"), own.diagnosis, choices, (k) => {
      own = choices[k];
      later();
    });
  }

  async function take(file) {
    try {
      useOwn(readOwn(await file.text(), file.name), `Shown above: ${file.name}.`);
      setRuns([]);
      reveal("pair");
    } catch (error) {
      put("own-message", error.message);
      byId("own-message").className = "wrong";
    }
  }

  function listen() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    for (const name of PLANES) click(`show-${name}`, () => showPlane(name));
    click("collapse", toggleCollapse);
    click("train-cell", () => on.train(false));
    click("train-diagonal", () => trainAlong(1));
    click("train-row", () => trainAlong(0));
    click("clear", () => setRuns([]));
    click("tour-next", () => goTo(view.step + 1));
    click("tour-back", () => goTo(view.step - 1));
    click("tour-action", () => goTo(view.step));
    click("tour-end", () => {
      view.step = 0;
      show();
    });
    for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
      window.addEventListener(kind, () => (followed = ""), { capture: true, passive: true });
    byId("intervals").addEventListener("change", show);
    byId("file").addEventListener(
      "change",
      ({ target }) => target.files[0] && take(target.files[0]),
    );
    for (const kind of ["dragover", "dragleave", "drop"]) {
      window.addEventListener(kind, (event) => {
        event.preventDefault();
        byId("drop").classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
      });
    }
    window.addEventListener("hashchange", () => {
      Object.assign(view, fromFragment(location.hash));
      if (view.plane === "own" && !own) view.plane = "stored";
      setRuns(view.runs);
    });
    new ResizeObserver(later).observe(document.body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
    matchMedia("print").addEventListener("change", show); // no frame comes while printing
  }

  makeSliders(byId("sliders"), (name, value) => {
    view[name] = value;
    if (!view.collapse) view.plane = "live";
    setRuns(view.runs);
  });
  listen();
  if (data.own) {
    const linked = { ...view };
    const { kind, planes, json, name } = data.own;
    useOwn(kind === "planes" ? { kind, planes: planes.map(unpack) } : readDiagnosis(json, name));
    if (location.hash) Object.assign(view, linked);
  } else if (view.plane === "own") view.plane = "stored";
  setRuns(view.runs);
}
