import { itemName } from './item.ts';
import { keyOf, type Write } from './table.ts';

/**
 * Values that a process has read from a table, for a second. A thousand requests ask for the same ones, such as the best
 * runs of a project. A write of this process to an item or partition that the value depends on drops it at once,
 * also while it is being read. So on one machine, where one process serves all requests, every request sees the writes
 * before it. Writes of other processes (other functions on AWS, and jobs) are seen at most a second later. `undefined` and
 * errors are not kept.
 * @example
 * const rankings = new RecentValues<Ranking>();
 * await rankings.get(records, key, [cataloguePartition(project_id)], () => rank(records, project_id));
 */
export class RecentValues<V> {
  readonly #kept = new WeakMap<object, Map<string, Kept<V>>>();

  /** Return the value of a key, if it is kept. Several that ask at once share a read. */
  peek(owner: object, key: string): Promise<V> | undefined {
    const present = this.#kept.get(owner)?.get(key);
    if (present === undefined || recency.isOver(present.since) || wasWritten(present)) return undefined;
    return present.value;
  }

  /**
   * Read the value of a key, and keep it.
   * @param owner what the value is read with, such as the reader of a table
   * @param sources partitions of the records that the value is made of, or names of items ({@link itemName})
   */
  read(owner: object, key: string, sources: readonly string[], read: () => Promise<V>): Promise<V> {
    const values = this.#kept.get(owner) ?? new Map<string, Kept<V>>();
    this.#kept.set(owner, values);
    if (values.size >= maxValues) values.clear();
    const since = { monotonic: performance.now(), wall: Date.now() };
    const kept = { value: read(), since, sources, at: clock };
    values.set(key, kept);
    const drop = () => values.get(key) === kept && values.delete(key);
    kept.value.then((value) => value === undefined && drop(), drop);
    return kept.value;
  }

  /** Return the value of a key as it is kept, else read it. */
  get(...[owner, key, sources, read]: Parameters<this['read']>): Promise<V> {
    return this.peek(owner, key) ?? this.read(owner, key, sources, read);
  }
}

interface Kept<V> {
  value: Promise<V>;
  /** When its read began. */
  since: Moment;
  sources: readonly string[];
  /** Value of `clock` before its read. */
  at: number;
}

interface Moment {
  /** As `performance.now()`. */
  monotonic: number;
  /** Epoch milliseconds. */
  wall: number;
}

/** How long values are kept. Tests replace the function. */
export const recency = {
  /** Whether a second has passed by either clock: the monotonic one may stand still while AWS freezes the process. */
  isOver: ({ monotonic, wall }: Moment): boolean =>
    performance.now() - monotonic >= keptMilliseconds || Math.abs(Date.now() - wall) >= keptMilliseconds,
};

const keptMilliseconds = 1000;
const maxValues = 10_000;

/** Count of the writes of this process. */
let clock = 0;
/** The last write to each item and partition, of the last writes. */
let written = new Map<string, number>();
/** Values of before this write have to be read again, because earlier writes are forgotten. */
let forgotten = 0;
const maxWritten = 40_000;

const wasWritten = ({ sources, at }: Kept<unknown>): boolean =>
  at < forgotten || sources.some((source) => (written.get(source) ?? 0) > at);

/** Note writes of this process. Call it once they are done, or may be. */
export function noteWrites(writes: readonly Write[]): void {
  clock += 1;
  for (const source of sourcesOf(writes)) for (const wake of waiting.get(source) ?? []) wake();
  if (written.size > maxWritten) {
    written = new Map();
    forgotten = clock;
  }
  for (const source of sourcesOf(writes)) written.set(source, clock);
}

function* sourcesOf(writes: readonly Write[]): Generator<string> {
  for (const write of writes) {
    const key = keyOf(write);
    yield key.pk;
    // A change of a run only checks its row of the project's catalogue, and changes what is made of the row.
    if (!('check' in write)) yield itemName(key);
  }
}

/** What waits for a write, by its source. */
const waiting = new Map<string, Set<() => void>>();

/**
 * Resolve at the next write of this process to one of the sources (partitions, or names of items), after a time, or when
 * the signal is aborted.
 */
export function nextWrite(
  sources: readonly string[],
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      for (const source of sources) {
        const those = waiting.get(source);
        those?.delete(wake);
        if (those?.size === 0) waiting.delete(source);
      }
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal.addEventListener('abort', wake);
    for (const source of sources) waiting.set(source, (waiting.get(source) ?? new Set()).add(wake));
  });
}
