// Six short steps; each a sentence or two, and one action that shows it, in the element `result`.

import { byId, put } from "./dom.js";

export const STEPS = [
  {
    title: "What is plotted",
    text: "Every cell is a way to train: a batch size and a learning rate. Colour is what the trained model has learnt (left) and how often it is wrong on new data (right). Training always runs until every training point is fitted.",
    action: "Show the cell in the middle",
    change: { plane: "stored", collapse: false, lr: 4, batch: 64, runs: [] },
    result: "pair",
  },
  {
    title: "Noise",
    text: "Top left: noise of small batches decides. What is learnt depends on lr/batch alone, so trainings along a diagonal give the same curves. Doubling the batch goes with doubling the learning rate.",
    action: "Train along a diagonal",
    change: {
      plane: "live",
      collapse: false,
      lr: 8,
      batch: 2,
      runs: [
        [4, 1],
        [8, 2],
        [16, 4],
        [32, 8],
      ],
    },
    result: "charts",
  },
  {
    title: "First step",
    text: "Top right: the first step is so large that it decides. What is learnt depends on the learning rate alone, so trainings along a row give the same result. More batch changes nothing.",
    action: "Train along a row",
    change: {
      plane: "live",
      collapse: false,
      lr: 64,
      batch: 256,
      runs: [
        [64, 128],
        [64, 256],
        [64, 512],
        [64, 1024],
      ],
    },
    result: "charts",
  },
  {
    title: "Gradient descent",
    text: "Bottom: steps are so small that training is like gradient descent. Neither the batch nor the learning rate changes what is learnt.",
    action: "Train two far-apart cells",
    change: {
      plane: "live",
      collapse: false,
      lr: 0.125,
      batch: 64,
      runs: [
        [0.125, 32],
        [0.5, 256],
      ],
    },
    result: "charts",
  },
  {
    title: "B* and the number of points",
    text: "The regimes meet at a critical batch B*. It grows with the number of training points P. In units of B* and of T_c, the lr/batch below which noise does not matter, planes of several P fall onto one another.",
    action: "Collapse three planes",
    change: { plane: "live", collapse: true, runs: [] },
    result: "collapsed",
  },
  {
    title: "Your training",
    text: "sgdphase diagnose finds this for your own model: which learning rate goes with a larger batch, and from which batch on none does. Drop its diagnosis.json below to see your point and how far the batch can be raised.",
    action: "Show an example",
    change: { plane: "own", collapse: false, runs: [] },
    result: "pair",
    example: true,
  },
];

const BEFORE = {
  title: "A tour in six steps",
  text: "What is plotted, noise, the first step, gradient descent, the critical batch, and your own training: a minute in all.",
};

// `number` is 0 before the tour.
export function showTour(number) {
  const step = STEPS[number - 1];
  put("tour-title", step ? `${number} of ${STEPS.length}: ${step.title}` : BEFORE.title);
  put("tour-words", (step ?? BEFORE).text);
  put("tour-action", step?.action ?? "");
  put("tour-next", step ? "Next" : "Start the tour");
  byId("tour-back").hidden = number < 2;
  byId("tour-action").hidden = byId("tour-end").hidden = !step;
  byId("tour-next").hidden = number === STEPS.length;
  byId("tour").classList.toggle("on", Boolean(step));
  const covered = step ? byId("tour").offsetHeight : 0;
  document.documentElement.style.setProperty("--tour", `${covered}px`);
}
