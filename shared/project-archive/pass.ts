import type { Write } from '../data/table/table.ts';

/**
 * An export or import that a pass works on, as this pass last read or stored it. Two passes may work on one: what the
 * later one stores, also that it failed, is refused, because it is not of the version that is stored by then.
 */
export class Pass<T> {
  #value: T;
  readonly #store: (previous: T, change: Partial<T>, also: readonly Write[]) => Promise<T>;

  /** @param store stores a change of the version that was read */
  constructor(value: T, store: (previous: T, change: Partial<T>, also: readonly Write[]) => Promise<T>) {
    this.#value = value;
    this.#store = store;
  }

  get value(): T {
    return this.#value;
  }

  /**
   * Store how far it has come.
   * @param also further writes of the same transaction
   * @throws ConditionFailedError where another pass went on with it, or it is gone
   */
  async save(change: Partial<T>, ...also: readonly Write[]): Promise<void> {
    this.#value = await this.#store(this.#value, change, also);
  }
}
