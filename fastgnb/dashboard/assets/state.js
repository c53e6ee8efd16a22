// The state of the page is in the address, behind #, so that a link restores a view.
const state = {
  parameters: new URLSearchParams(),
  read() {
    this.parameters = new URLSearchParams(location.hash.slice(1));
  },
  get(name, otherwise = "") {
    return this.parameters.get(name) ?? otherwise;
  },
  all(name) {
    return this.parameters.getAll(name);
  },
  // The address after changes: an array gives several values, and an empty one removes the name.
  link(changes, from = this.parameters) {
    const next = new URLSearchParams(from);
    for (const [name, value] of Object.entries(changes)) {
      next.delete(name);
      for (const item of [value].flat()) if (item !== "" && item !== null) next.append(name, item);
    }
    return `#${next}`;
  },
  go(changes) {
    location.hash = this.link(changes);
  },
};
const linkTo = (view, changes = {}) => state.link({ view, ...changes }, new URLSearchParams());
