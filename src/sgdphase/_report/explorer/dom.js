// Short names for what the page does with its elements.

export const byId = (id) => document.getElementById(id);

export function tag(name, content = "", kind = "") {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  node.append(content);
  return node;
}

// A screen reader speaks every change of a live region, so the same words are not put again.
export function put(id, words) {
  if (byId(id).textContent !== words) byId(id).textContent = words;
}

export function replaceIfNew(host, ...nodes) {
  const html = nodes.map((node) => node.outerHTML).join("");
  if (host.innerHTML !== html) host.replaceChildren(...nodes);
}

// Terms and values, each pair in its own box, with a hint if there is one.
export function putPairs(list, pairs) {
  const boxes = pairs.map(([term, value, title = ""]) => {
    const box = Object.assign(tag("div"), { title });
    box.append(tag("dt", term), tag("dd", value));
    return box;
  });
  replaceIfNew(list, ...boxes);
}
