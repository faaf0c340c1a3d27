/** The label of a channel that can never be removed. */
export const fixedLabel = 0;

/** The channels along an axis of a value or weight, in order, as labels in {@link Channels}. */
export type Labels = Int32Array;

/**
 * The channels of a model, grouped by joint removal: a disjoint-set forest over labels. A locked set stores the
 * reason why its channels cannot be removed.
 */
export class Channels {
  readonly #parent: number[] = [fixedLabel];
  readonly #locks = new Map<number, string>([[fixedLabel, 'they are tied to channels that must stay']]);

  /** Create `count` independent channels. */
  make(count: number): Labels {
    const first = this.#parent.length;
    for (let at = 0; at < count; at += 1) this.#parent.push(first + at);
    return Int32Array.from({ length: count }, (_, at) => first + at);
  }

  /** Return the representative label of all channels tied to this one. */
  find(label: number): number {
    let root = label;
    for (let up = this.#parent[root] ?? root; up !== root; up = this.#parent[root] ?? root) root = up;
    for (let at = label; at !== root; ) {
      const up = this.#parent[at] ?? root;
      this.#parent[at] = root;
      at = up;
    }
    return root;
  }

  /** Tie two channels. They are kept or removed together. */
  tie(a: number, b: number): void {
    const [low, high] = [this.find(a), this.find(b)].sort((x, y) => x - y);
    if (low === undefined || high === undefined || low === high) return;
    this.#parent[high] = low;
    const why = this.#locks.get(high);
    if (why !== undefined && !this.#locks.has(low)) this.#locks.set(low, why);
  }

  /** Tie the channels of two axes of the same length pairwise. */
  tieAll(a: Labels, b: Labels): void {
    if (a === b) return;
    for (const [at, label] of a.entries()) this.tie(label, b[at] ?? fixedLabel);
  }

  /** Lock channels that cannot be removed. The first reason is kept. */
  lock(labels: Iterable<number>, why: string): void {
    for (const label of labels) {
      const root = this.find(label);
      if (!this.#locks.has(root)) this.#locks.set(root, why);
    }
  }

  /** Return the reason why a channel cannot be removed. Undefined if it can be removed. */
  lockOf(label: number): string | undefined {
    return this.#locks.get(this.find(label));
  }

  /** Whether two axes have the same channels in the same order. */
  areSame(a: Labels, b: Labels): boolean {
    return a.length === b.length && a.every((label, at) => this.find(label) === this.find(b[at] ?? -1));
  }
}
