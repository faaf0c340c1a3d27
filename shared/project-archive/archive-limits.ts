import type { Write } from '../data/table/table.ts';

/** Seconds for which an archive is kept, after the last step that was done with it. */
const keptSeconds = 24 * 60 * 60;
/** Seconds before that at which nothing new is begun: what is left may be removed at any moment from then on. */
const spareSeconds = 60 * 60;

/** Until when an archive is kept with which something is done now. */
export const keptUntil = (now: Date): string => new Date(now.getTime() + keptSeconds * 1000).toISOString();

/** Whether what is kept until then may be removed while it is worked on. */
export const mayExpire = (until: string, now: Date): boolean =>
  Date.parse(until) - spareSeconds * 1000 < now.getTime();

/** Passes that may fail for no known reason, one after the other, before the work is given up. */
export const maxPassesThatFail = 5;

/** Seconds that a request spends on an archive, of the 29 that it has in all. */
export const secondsInRequest = 8;
const bytesInRequest = 100_000_000;
const experimentsInRequest = 500;

/** Whether a request works on an archive at all: then no file is so large that one step outlasts it. */
export const mayRunInRequest = (bytes: number, experiments: number): boolean =>
  bytes <= bytesInRequest && experiments <= experimentsInRequest;

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
