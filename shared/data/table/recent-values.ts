import type { TableName, TableReader, Write } from './table.ts';

/**
 * Values that a process has read from a table, for a second. A thousand requests ask for the same ones, such as the best
 * runs of a project. A write of this process to a partition that the value depends on drops it at once,
 * also while it is being read. So on one machine, where one process serves all requests, every request sees the writes
 * before it. Writes of other processes (other functions on AWS, and jobs) are seen at most a second later.
 * @example
 * const rankings = new RecentValues<Ranking>();
 * await rankings.get(records, key, [cataloguePartition(project_id)], () => rank(records, project_id));
 */
export class RecentValues<V> {
  readonly #kept = new WeakMap<object, Map<string, Kept<V>>>();

  /**
   * @param partitions those of the records that the value is made of
   * @param read reads the value; several that ask at once share it
   */
  get(
    records: TableReader<TableName>,
    key: string,
    partitions: readonly string[],
    read: () => Promise<V>,
  ): Promise<V> {
    const values = this.#kept.get(records) ?? new Map<string, Kept<V>>();
    this.#kept.set(records, values);
    const present = values.get(key);
    if (present !== undefined && performance.now() < present.until && !wasWritten(present)) {
      return present.value;
    }
    if (values.size >= maxValues) values.clear();
    const kept = { value: read(), until: performance.now() + keptMilliseconds, partitions, at: clock };
    values.set(key, kept);
    kept.value.catch(() => {
      if (values.get(key) === kept) values.delete(key);
    });
    return kept.value;
  }
}

interface Kept<V> {
  value: Promise<V>;
  /** End of its time, as `performance.now()`. */
  until: number;
  partitions: readonly string[];
  /** Value of `clock` before its read. */
  at: number;
}

const keptMilliseconds = 1000;
const maxValues = 10_000;

/** Count of the writes of this process. */
let clock = 0;
/** The last write to each partition, of the last writes. */
let written = new Map<string, number>();
/** Values of before this write have to be read again, because the partitions of earlier writes are forgotten. */
let forgotten = 0;
const maxPartitions = 20_000;

const wasWritten = ({ partitions, at }: Kept<unknown>): boolean =>
  at < forgotten || partitions.some((pk) => (written.get(pk) ?? 0) > at);

/** Note writes of this process. Call it once they are done, or may be. */
export function noteWrites(writes: readonly Write[]): void {
  clock += 1;
  if (written.size > maxPartitions) {
    written = new Map();
    forgotten = clock;
  }
  for (const write of writes) written.set(partitionOf(write), clock);
}

function partitionOf(write: Write): string {
  if ('put' in write) return write.put.pk;
  if ('update' in write) return write.update.pk;
  return 'delete' in write ? write.delete.pk : write.check.pk;
}
