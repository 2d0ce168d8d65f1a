// The sliders of the model and its data.

import { byId, tag } from "./dom.js";
import { power } from "./numbers.js";
import { LIMITS } from "./state.js";

// `changed(name, value)` at every move.
export function makeSliders(host, changed) {
  for (const [name, { low, high, step, name: words, power: isPower }] of Object.entries(LIMITS)) {
    const row = tag("div", "", "slider");
    const label = tag("label", words);
    const value = document.createElement("output");
    const input = document.createElement("input");
    Object.assign(input, { type: "range", id: `slider-${name}`, min: low, max: high, step });
    label.htmlFor = value.htmlFor = input.id;
    value.id = `value-${name}`;
    input.addEventListener("input", () => {
      changed(name, isPower ? 2 ** Number(input.value) : Number(input.value));
    });
    row.append(label, value, input);
    host.append(row);
  }
}

export function showSliders(view) {
  for (const [name, { power: isPower }] of Object.entries(LIMITS)) {
    const input = byId(`slider-${name}`);
    const at = isPower ? Math.log2(view[name]) : view[name];
    if (Number(input.value) !== at) input.value = at;
    const words = isPower ? power(view[name]) : String(Number(view[name].toFixed(2)));
    byId(`value-${name}`).textContent = words;
    input.setAttribute("aria-valuetext", words);
  }
}
