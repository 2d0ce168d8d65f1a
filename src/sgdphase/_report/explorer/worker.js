// Trainings beside the page: workers made from the page's own script, so that a file needs nothing
// but itself. A pool hands out jobs, the next one to whoever is free.

import { trainCell, trainTraced } from "./simulate.js";

// Jobs that a worker is given before it has answered: on a busy computer it must not wait.
const AHEAD = 4;
const KINDS = { cell: trainCell, traced: trainTraced };

// In a worker: answer jobs.
export function serve(scope) {
  scope.onmessage = ({ data: { id, kind, setting } }) => {
    try {
      scope.postMessage({ id, result: KINDS[kind](setting) });
    } catch (error) {
      scope.postMessage({ id, error: String(error) });
    }
  };
}

// In the page: `ask` returns a promise; `drop` forgets waiting jobs of a group, whose promises
// then resolve to null. Urgent jobs go first.
export function makePool(source, count) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const workers = [];
  const waiting = [];
  const running = new Map();
  let next = 0;

  function start() {
    const worker = { thread: new Worker(url), jobs: 0 };
    worker.thread.onmessage = ({ data }) => {
      const job = running.get(data.id);
      running.delete(data.id);
      worker.jobs--;
      if (data.error) job.reject(new Error(data.error));
      else job.resolve(data.result);
      hand();
    };
    workers.push(worker);
    return worker;
  }

  function hand() {
    while (waiting.length) {
      let worker = workers.reduce((a, b) => (b.jobs < a.jobs ? b : a), { jobs: AHEAD });
      if (worker.jobs && workers.length < count) worker = start();
      if (worker.jobs === AHEAD) return;
      const job = waiting.shift();
      running.set(job.id, job);
      worker.jobs++;
      worker.thread.postMessage({ id: job.id, kind: job.kind, setting: job.setting });
    }
  }

  function ask(kind, setting, { group = "", urgent = false } = {}) {
    return new Promise((resolve, reject) => {
      const job = { id: next++, kind, setting, group, resolve, reject };
      if (urgent) waiting.unshift(job);
      else waiting.push(job);
      hand();
    });
  }

  function drop(group) {
    for (let i = waiting.length - 1; i >= 0; i--) {
      if (waiting[i].group === group) waiting.splice(i, 1)[0].resolve(null);
    }
  }

  return { ask, drop };
}
