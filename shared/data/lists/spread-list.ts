import { createHash } from 'node:crypto';
import type { Item, Key, Page, TableName, TableReader, TableWriter } from '../table/table.ts';

/**
 * Rows in one order of time: in one partition, and once a list of the deployment is large, new ones over eight more by a
 * digest of their ids.
 */
export interface SpreadList {
  /** Keys of all partitions. The first is that of lists which are not spread, and of releases that spread none. */
  readonly partitions: readonly [string, ...string[]];
  /** Key patterns of all partitions, for the policy of a role. */
  readonly patterns: readonly string[];
  keyOf(id: string): Key;
  /** Return the id of a new record of the list, made of a new ULID. Spreads the lists once this one is large. */
  newId(table: TableWriter<TableName>, ulid: string): Promise<string>;
  /** Return a page, newest first, of `limit` rows or fewer at the end. The work is that of the page, not of the list. */
  newest(
    table: TableReader<TableName>,
    page: { limit: number; after: string | undefined },
  ): Promise<Page<Item>>;
}

/** The spread list whose partitions are `name` and, by number, `name#0` and so on. */
export function spreadList(name: string): SpreadList {
  const partitions: [string, ...string[]] = [
    name,
    ...Array.from({ length: parts }, (_, part) => `${name}#${part}`),
  ];
  return {
    partitions,
    patterns: [name, `${name}#*`],
    keyOf(id) {
      const digest = digestOf(headOf(id));
      const isSpread = id.endsWith(markOf(digest));
      const part = digest.readUInt8(markLength) % parts;
      return { pk: isSpread ? `${name}#${part}` : name, sk: id };
    },
    async newId(table, ulid) {
      if (await wasSpread(table)) return spreadId(ulid);
      if (!isSample(ulid) || (await table.count(name, largeRows)) < largeRows) return ulid;
      await spreadLists(table);
      return spreadId(ulid);
    },
    async newest(table, { limit, after }) {
      // A partition's part of a page deviates from the mean by the square root of it.
      const mean = limit / parts;
      const share = Math.ceil(mean + 2 * Math.sqrt(mean));
      const isKnown = isKnownToBeSpread(table);
      const first = source(name, after, isKnown ? share : limit);
      // Most lists are in one partition, so its query need not wait for the answer.
      const [isMany] = await Promise.all([
        isSpread(table),
        isKnown ? undefined : refill(table, first, limit),
      ]);
      const others = isMany ? partitions.slice(1).map((pk) => source(pk, after, share)) : [];
      return newestOf(table, [first, ...others], limit);
    },
  };
}

/**
 * Partitions of a spread list, besides the first. A partition of DynamoDB takes 1,000 write units a second, and DynamoDB
 * does not split a hot one whose sort keys only grow.
 */
const parts = 8;

const digestOf = (head: string): Buffer => createHash('sha256').update(head).digest();

const headOf = (id: string): string => id.slice(0, -markLength);

const markLength = 8;

/** Whether rows of spread lists can be in other partitions than the first. */
export async function isSpread(table: TableReader<TableName>): Promise<boolean> {
  if (spreadTables.has(table)) return true;
  if ((await table.get(spreadKey)) === undefined) {
    checkedAt.set(table, performance.now());
    return false;
  }
  spreadTables.add(table);
  return true;
}

/** Tables whose lists this process knows to be spread. */
const spreadTables = new WeakSet<TableReader<TableName>>();

/** There once the lists of the deployment are spread, which they stay. */
const spreadKey: Key = { pk: 'LISTS', sk: 'SPREAD' };

/** When tables were last seen with lists that are not, by the monotonic clock. */
const checkedAt = new WeakMap<TableReader<TableName>, number>();

const markOf = (digest: Buffer): string =>
  Array.from(digest.subarray(0, markLength), (byte) => digits[byte % digits.length]).join('');

/** Digits of ULIDs, in their order. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The same for who adds a row, as it was within the last ten seconds: a row that is put into the first partition when
 * the lists have just been spread is found there all the same.
 */
async function wasSpread(table: TableReader<TableName>): Promise<boolean> {
  const at = checkedAt.get(table);
  if (at !== undefined && performance.now() - at < staleMilliseconds) return spreadTables.has(table);
  return isSpread(table);
}

const staleMilliseconds = 10_000;

/**
 * Make a new ULID the id of a record that is not in the first partition: its last characters become a digest of the
 * others, its mark. So an id tells where its record is. Ids without a mark are those of the first partition. One of 2^40
 * of them bears a mark by chance.
 */
export const spreadId = (ulid: string): string => headOf(ulid) + markOf(digestOf(headOf(ulid)));

/** Whether the list is counted before a record of this id is added. */
const isSample = (ulid: string): boolean => digestOf(ulid).readUInt16BE() % sampleOf === 0;

/** One of so many new records has the list counted: about 100 read units for a list that is nearly large. */
const sampleOf = 64;

/** Rows of the first partition from which on the lists are spread. */
const largeRows = 1000;

/** Spread the lists. To be done before the first row is put into another partition, so that no reader misses it. */
export async function spreadLists(table: TableWriter<TableName>): Promise<void> {
  await table.write({ put: { ...spreadKey, record_type: 'spread', schema_version: 0 } });
  spreadTables.add(table);
}

/** Whether this process knows it already. */
const isKnownToBeSpread = (table: TableReader<TableName>): boolean => spreadTables.has(table);

const source = (pk: string, after: string | undefined, share: number): Source => ({
  pk,
  rows: [],
  after,
  isAtEnd: false,
  share,
});

/** What was read of one partition and is not on the page yet. */
interface Source {
  pk: string;
  rows: Item[];
  after: string | undefined;
  isAtEnd: boolean;
  /** Rows of the next query. */
  share: number;
}

async function refill(table: TableReader<TableName>, source: Source, most: number): Promise<void> {
  const { pk, after, share } = source;
  const { items, next } = await table.query({ pk, after, descending: true, limit: Math.min(share, most) });
  source.rows = items;
  source.after = next;
  source.isAtEnd = next === undefined;
  // The rows of a list that grew before it was spread are all in one partition.
  source.share *= 2;
}

async function newestOf(
  table: TableReader<TableName>,
  sources: readonly Source[],
  limit: number,
): Promise<Page<Item>> {
  const items: Item[] = [];
  while (items.length < limit) {
    const empty = sources.filter(({ rows, isAtEnd }) => rows.length === 0 && !isAtEnd);
    await Promise.all(empty.map((source) => refill(table, source, limit - items.length)));
    // A page of DynamoDB may be empty though more follows.
    if (sources.some(({ rows, isAtEnd }) => rows.length === 0 && !isAtEnd)) continue;
    const item = takeNewest(sources);
    if (item === undefined) break;
    items.push(item);
  }
  const isAtEnd = sources.every((source) => source.rows.length === 0 && source.isAtEnd);
  return { items, next: isAtEnd ? undefined : items.at(-1)?.sk };
}

function takeNewest(sources: readonly Source[]): Item | undefined {
  let newest: Source | undefined;
  for (const source of sources) {
    const sk = source.rows[0]?.sk;
    if (sk !== undefined && (newest?.rows[0] === undefined || sk > newest.rows[0].sk)) newest = source;
  }
  return newest?.rows.shift();
}
