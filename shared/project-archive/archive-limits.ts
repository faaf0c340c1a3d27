import type { Write } from '../data/table/table.ts';

/** Seconds for which an archive is kept after its last step. */
const keptSeconds = 24 * 60 * 60;
/** Seconds before the expiry at which no new work begins, because the objects may be removed at any moment. */
const spareSeconds = 60 * 60;

/** Return the expiry of an archive whose last step happens now. */
export const keptUntil = (now: Date): string => new Date(now.getTime() + keptSeconds * 1000).toISOString();

/** Whether objects with this expiry may be removed while the work runs. */
export const mayExpire = (until: string, now: Date): boolean =>
  Date.parse(until) - spareSeconds * 1000 < now.getTime();

/** Consecutive passes with an unknown error before the work is given up. */
export const maxPassesThatFail = 5;

/** Seconds that a request spends on an archive, of the 29 that it has in total. */
export const secondsInRequest = 8;
const bytesInRequest = 100_000_000;
const experimentsInRequest = 500;

/**
 * Whether a request may work on an archive of this size. Its files are small enough that no single step outlasts
 * the request.
 */
export const mayRunInRequest = (bytes: number, experiments: number): boolean =>
  bytes <= bytesInRequest && experiments <= experimentsInRequest;

/**
 * An export or import that a pass works on, as this pass last read or stored it. Two passes may work on the same
 * one. Storage refuses the later write of the two, even the write of a failure, because its version is outdated.
 */
export class Pass<T> {
  #value: T;
  readonly #store: (previous: T, change: Partial<T>, also: readonly Write[]) => Promise<T>;

  /** @param store stores a change based on the version that was read */
  constructor(value: T, store: (previous: T, change: Partial<T>, also: readonly Write[]) => Promise<T>) {
    this.#value = value;
    this.#store = store;
  }

  get value(): T {
    return this.#value;
  }

  /**
   * Store the progress.
   * @param also further writes of the same transaction
   * @throws ConditionFailedError if another pass continued it, or it was deleted
   */
  async save(change: Partial<T>, ...also: readonly Write[]): Promise<void> {
    this.#value = await this.#store(this.#value, change, also);
  }
}
