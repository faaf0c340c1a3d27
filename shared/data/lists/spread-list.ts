import { createHash } from 'node:crypto';
import { withoutAudit } from '../table/audited-writer.ts';
import type { Item, Key, Page, TableName, TableReader, TableWriter } from '../table/table.ts';

/**
 * List of rows in time order. It begins with one partition. Once a list of the deployment is large, new rows
 * spread over eight more partitions, by a digest of their ids.
 */
export interface SpreadList {
  /** Keys of all partitions. Lists that are not spread use only the first, as do releases without spread lists. */
  readonly partitions: readonly [string, ...string[]];
  /** Key patterns of all partitions, for the policy of a role. */
  readonly patterns: readonly string[];
  keyOf(id: string): Key;
  /**
   * Return the id of a new record of the list, derived from a new ULID. Spread the lists once this one is large.
   */
  newId(table: TableWriter<TableName>, ulid: string): Promise<string>;
  /**
   * Return a page of `limit` rows, newest first. The last page may have fewer. The cost depends on the page, not
   * on the list.
   */
  newest(
    table: TableReader<TableName>,
    page: { limit: number; after: string | undefined },
  ): Promise<Page<Item>>;
}

/** Create the spread list with the partitions `name`, `name#0`, `name#1` and so on. */
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
    async newId(writer, ulid) {
      const table = withoutAudit(writer);
      if (await wasSpread(table)) return spreadId(ulid);
      if (!isSample(ulid) || (await table.count(name, largeRows)) < largeRows) return ulid;
      await spreadLists(table);
      return spreadId(ulid);
    },
    async newest(reader, { limit, after }) {
      const table = withoutAudit(reader);
      // A partition's share of a page deviates from the mean by about its square root.
      const mean = limit / parts;
      const share = Math.ceil(mean + 2 * Math.sqrt(mean));
      const isKnown = isKnownToBeSpread(table);
      const first = source(name, after, isKnown ? share : limit);
      // Most lists use one partition, so its query need not wait for the answer.
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
 * Number of partitions of a spread list besides the first. A DynamoDB partition takes 1,000 write units a second,
 * and DynamoDB does not split a hot partition whose sort keys only grow.
 */
const parts = 8;

const digestOf = (head: string): Buffer => createHash('sha256').update(head).digest();

const headOf = (id: string): string => id.slice(0, -markLength);

const markLength = 8;

/** Whether spread lists may have rows outside the first partition. */
export async function isSpread(reader: TableReader<TableName>): Promise<boolean> {
  const table = withoutAudit(reader);
  if (spreadTables.has(table)) return true;
  if ((await table.get(spreadKey)) === undefined) {
    checkedAt.set(table, performance.now());
    return false;
  }
  spreadTables.add(table);
  return true;
}

/** Tables with spread lists, as far as this process knows. */
const spreadTables = new WeakSet<TableReader<TableName>>();

/** Key of the record that exists once the lists of the deployment are spread. They stay spread. */
export const spreadKey: Key = { pk: 'LISTS', sk: 'SPREAD' };

/** Time of the last check that found the lists of a table not spread, on the monotonic clock. */
const checkedAt = new WeakMap<TableReader<TableName>, number>();

const markOf = (digest: Buffer): string =>
  Array.from(digest.subarray(0, markLength), (byte) => digits[byte % digits.length]).join('');

/** Digits of ULIDs, in ascending order. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Whether the lists are spread, for writers of rows. The answer may be ten seconds old. A row in the first
 * partition is still found there after the lists are spread.
 */
async function wasSpread(table: TableReader<TableName>): Promise<boolean> {
  const at = checkedAt.get(table);
  if (at !== undefined && performance.now() - at < staleMilliseconds) return spreadTables.has(table);
  return isSpread(table);
}

const staleMilliseconds = 10_000;

/**
 * Convert a new ULID to the id of a record outside the first partition. Replace its last characters with a mark, a
 * digest of the others. So an id tells the partition of its record. Ids without a mark belong to the first
 * partition. One in 2^40 of them has a mark by chance.
 */
export const spreadId = (ulid: string): string => headOf(ulid) + markOf(digestOf(headOf(ulid)));

/** Whether to count the list before a record of this id is added. */
const isSample = (ulid: string): boolean => digestOf(ulid).readUInt16BE() % sampleOf === 0;

/**
 * One in this many new records triggers a count of the list. It costs about 100 read units for a nearly large
 * list.
 */
const sampleOf = 64;

/** Number of rows in the first partition that triggers the spread. */
const largeRows = 1000;

/** Spread the lists. Call this before the first row goes into another partition, so no reader misses it. */
export async function spreadLists(table: TableWriter<TableName>): Promise<void> {
  await table.write({ put: { ...spreadKey, record_type: 'spread', schema_version: 0 } });
  spreadTables.add(table);
}

/** Whether this process already knows that the lists are spread. */
const isKnownToBeSpread = (table: TableReader<TableName>): boolean => spreadTables.has(table);

const source = (pk: string, after: string | undefined, share: number): Source => ({
  pk,
  rows: [],
  after,
  isAtEnd: false,
  share,
});

/** Rows of one partition that were read but are not on the page yet. */
interface Source {
  pk: string;
  rows: Item[];
  after: string | undefined;
  isAtEnd: boolean;
  /** Limit of the next query. */
  share: number;
}

async function refill(table: TableReader<TableName>, source: Source, most: number): Promise<void> {
  const { pk, after, share } = source;
  const { items, next } = await table.query({ pk, after, descending: true, limit: Math.min(share, most) });
  source.rows = items;
  source.after = next;
  source.isAtEnd = next === undefined;
  // Rows from before the spread are all in one partition, so double its share.
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
    // DynamoDB may return an empty page although more rows follow.
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
