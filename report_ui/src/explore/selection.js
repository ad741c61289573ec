/** Which points are selected, shared by all views. Nothing selected means that nothing is set apart. */
export class Selection {
  #points = new Set();
  #listeners = new Set();

  get size() {
    return this.#points.size;
  }
  has(point) {
    return this.#points.has(point);
  }
  all() {
    return [...this.#points].sort((a, b) => a - b);
  }

  /** Calls `listener(source)` after every change; `source` made it. */
  onChange(listener) {
    this.#listeners.add(listener);
  }

  set(points, source) {
    const next = new Set(points);
    if (next.size === this.#points.size && [...next].every((p) => this.#points.has(p))) return;
    this.#points = next;
    this.#tell(source);
  }

  toggle(point, source) {
    if (!this.#points.delete(point)) this.#points.add(point);
    this.#tell(source);
  }

  #tell(source) {
    for (const listener of this.#listeners) listener(source);
  }
}
