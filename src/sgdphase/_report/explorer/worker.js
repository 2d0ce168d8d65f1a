// Trainings beside the page: workers made from the page's own script, so that a file needs nothing
// but itself. A pool hands out jobs, the next one to whoever is free.

import { trainCell, trainTraced } from "./simulate.js";

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
  const idle = [];
  const waiting = [];
  const running = new Map();
  let started = 0;
  let next = 0;

  function start() {
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => {
      const job = running.get(data.id);
      running.delete(data.id);
      idle.push(worker);
      if (data.error) job.reject(new Error(data.error));
      else job.resolve(data.result);
      hand();
    };
    return worker;
  }

  function hand() {
    while (waiting.length && (idle.length || started < count)) {
      const worker = idle.pop() ?? (started++, start());
      const job = waiting.shift();
      running.set(job.id, job);
      worker.postMessage({ id: job.id, kind: job.kind, setting: job.setting });
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
