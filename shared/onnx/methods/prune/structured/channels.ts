/** The label of a channel that can never be removed. */
export const fixedLabel = 0;

/** The channels along an axis of a value or weight, in order, as labels of {@link Channels}. */
export type Labels = Int32Array;

/**
 * Channels of a model and which of them can only be removed together: a disjoint-set forest over labels, in which a
 * set is locked with the reason why its channels have to stay.
 */
export class Channels {
  readonly #parent: number[] = [fixedLabel];
  readonly #locks = new Map<number, string>([[fixedLabel, 'they are tied to channels that have to stay']]);

  /** As many channels of their own. */
  make(count: number): Labels {
    const first = this.#parent.length;
    for (let at = 0; at < count; at += 1) this.#parent.push(first + at);
    return Int32Array.from({ length: count }, (_, at) => first + at);
  }

  /** The label that stands for all channels tied to this one. */
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

  /** Ties two channels: they stay or go together. */
  tie(a: number, b: number): void {
    const [low, high] = [this.find(a), this.find(b)].sort((x, y) => x - y);
    if (low === undefined || high === undefined || low === high) return;
    this.#parent[high] = low;
    const why = this.#locks.get(high);
    if (why !== undefined && !this.#locks.has(low)) this.#locks.set(low, why);
  }

  /** Ties the channels of two axes of the same length, one by one. */
  tieAll(a: Labels, b: Labels): void {
    if (a === b) return;
    for (const [at, label] of a.entries()) this.tie(label, b[at] ?? fixedLabel);
  }

  /** Channels that have to stay, each with the first reason. */
  lock(labels: Iterable<number>, why: string): void {
    for (const label of labels) {
      const root = this.find(label);
      if (!this.#locks.has(root)) this.#locks.set(root, why);
    }
  }

  /** Why a channel has to stay; undefined where it may go. */
  lockOf(label: number): string | undefined {
    return this.#locks.get(this.find(label));
  }

  /** Whether two axes have the same channels in the same order. */
  areSame(a: Labels, b: Labels): boolean {
    return a.length === b.length && a.every((label, at) => this.find(label) === this.find(b[at] ?? -1));
  }
}
