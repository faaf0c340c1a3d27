import { createHash } from 'node:crypto';
import type { Item, Key, Page, TableName, TableReader } from './table.ts';

/**
 * Partitions of a spread list, besides that of earlier releases. A partition of DynamoDB takes 1,000 write units a
 * second, and DynamoDB does not split a hot one whose sort keys only grow.
 */
const parts = 8;
const markLength = 8;
/** Digits of ULIDs, in their order. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

const digestOf = (head: string): Buffer => createHash('sha256').update(head).digest();
const markOf = (digest: Buffer): string =>
  Array.from(digest.subarray(0, markLength), (byte) => digits[byte % digits.length]).join('');
const headOf = (id: string): string => id.slice(0, -markLength);

/**
 * Make a new ULID the id of a record of a spread list: its last characters become a digest of the others, its mark.
 * So an id tells where its record is. Ids of releases that did not spread their lists have no mark; their records stay
 * where they are. One of 2^40 of those ids bears a mark by chance.
 */
export const spreadId = (ulid: string): string => headOf(ulid) + markOf(digestOf(headOf(ulid)));

/** Rows in one order of time, over several partitions by a digest of their ids. */
export interface SpreadList {
  /** Keys of all partitions. The first is that of earlier releases. */
  readonly partitions: readonly [string, ...string[]];
  /** Key patterns of all partitions, for the policy of a role. */
  readonly patterns: readonly string[];
  keyOf(id: string): Key;
  /** Return a page, newest first, of `limit` rows or fewer at the end. The work is that of the page, not of the list. */
  newest(
    table: TableReader<TableName>,
    page: { limit: number; after: string | undefined },
  ): Promise<Page<Item>>;
}

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

function takeNewest(sources: readonly Source[]): Item | undefined {
  let newest: Source | undefined;
  for (const source of sources) {
    const sk = source.rows[0]?.sk;
    if (sk !== undefined && (newest?.rows[0] === undefined || sk > newest.rows[0].sk)) newest = source;
  }
  return newest?.rows.shift();
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
    async newest(table, { limit, after }) {
      // A partition's part of a page deviates from the mean by the square root of it.
      const mean = limit / parts;
      const share = Math.ceil(mean + 2 * Math.sqrt(mean));
      const sources = partitions.map((pk): Source => ({ pk, rows: [], after, isAtEnd: false, share }));
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
    },
  };
}
