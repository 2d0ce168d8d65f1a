// Lists by key.

export function addTo(groups, key, item) {
  if (!groups.has(key)) groups.set(key, []);
  groups.get(key).push(item);
}
