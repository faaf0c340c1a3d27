import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as z from 'zod';
import { Bytes, recordType } from '../table/record.ts';
import type { Item, Key, TableReader } from '../table/table.ts';

/**
 * Packed rows that a job writes while it runs. A chunk of a thousand rows costs one write of some kilobytes.
 * Chunks are in a job's partition under a prefix, ordered by lease and sequence.
 */
const chunk = recordType('chunk', () => z.object({ rows: z.number().int(), packed: Bytes }));

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Return the sort key of a chunk, without its prefix. */
export const chunkName = (lease: number, sequence: number): string =>
  `${String(lease).padStart(4, '0')}#${String(sequence).padStart(8, '0')}`;

/**
 * Build a chunk to store. The JSON of the rows must stay below about 300 KB, because an item takes 400 KB and some
 * data do not compress.
 */
export async function packChunk<Row>(key: Key, rows: readonly Row[]): Promise<Item> {
  return chunk.item(key, { rows: rows.length, packed: await compress(JSON.stringify(rows), { level: 3 }) });
}

/** Return the number of rows of a chunk, and its packed bytes. */
export function sizeOfChunk(item: Item): { rows: number; bytes: number } {
  const { rows, packed } = chunk.parse(item);
  return { rows, bytes: packed.length };
}

/** Unpack the rows of a chunk of {@link packChunk}. */
export const unpackChunk = async <S extends z.ZodType>(item: Item, row: S): Promise<z.output<S>[]> =>
  rowsOf(await chunkText(item), row);

/** Return the JSON of the rows of a chunk. */
export const chunkText = async (item: Item): Promise<string> =>
  (await decompress(chunk.parse(item).packed)).toString('utf8');

/** Return the rows in the JSON of a chunk. */
export const rowsOf = <S extends z.ZodType>(text: string, row: S): z.output<S>[] =>
  z.array(row).parse(JSON.parse(text));

/** Yield the items of chunks after the chunk `behind`, oldest first, with their names. */
export async function* chunkItems(
  records: TableReader<'records'>,
  { pk, prefix }: Pick<Stream<never>, 'pk' | 'prefix'>,
  behind: string | undefined,
): AsyncGenerator<{ name: string; item: Item }> {
  let after = behind === undefined ? undefined : `${prefix}${behind}`;
  do {
    const { items, next } = await records.query({ pk, prefix, after, limit: 64 });
    for (const item of items) yield { name: item.sk.slice(prefix.length), item };
    after = next;
  } while (after !== undefined);
}

/** Yield the chunks after the chunk `behind`, oldest first, with their names. */
export async function* readChunks<Row>(
  records: TableReader<'records'>,
  stream: Stream<Row>,
  behind: string | undefined,
): AsyncGenerator<{ name: string; rows: Row[] }> {
  for await (const { name, item } of chunkItems(records, stream, behind))
    yield { name, rows: await stream.unpack(item) };
}

export interface StreamPage<Row> {
  rows: Row[];
  /** Start of the next page. Also set at the current end, because a running job may append rows. */
  position: string;
  /** Whether more rows already exist. */
  more: boolean;
}

interface Stream<Row> {
  pk: string;
  prefix: string;
  /** Unpack the rows of one chunk. */
  unpack(item: Item): Promise<Row[]>;
}

const positionPattern = /^(?:(\d{4}#\d{8})?):(\d{1,9})$/;

/** Whether a text is a position from a page. */
export const isStreamPosition = (text: string): boolean => positionPattern.test(text);

/** Return the chunk behind which a position is, if there is one, and the rows of the next chunk before it. */
export function placeOf(position: string | undefined): { behind: string | undefined; skip: number } {
  const [, behind, within = '0'] = positionPattern.exec(position ?? '') ?? [];
  return { behind, skip: Number(within) };
}

/** Return rows from a position on, oldest first: at most `limit` rows and about `maxBytes` of JSON. */
export async function readStream<Row>(
  records: TableReader<'records'>,
  { pk, prefix, unpack }: Stream<Row>,
  from: string | undefined,
  { limit, maxBytes }: { limit: number; maxBytes: number },
): Promise<StreamPage<Row>> {
  let { behind, skip } = placeOf(from);
  const rows: Row[] = [];
  let after = behind === undefined ? undefined : `${prefix}${behind}`;
  let bytes = 0;
  const page = (read: number, more: boolean) => ({
    rows,
    position: `${after?.slice(prefix.length) ?? ''}:${read}`,
    more,
  });
  for (;;) {
    const { items, next } = await records.query({ pk, prefix, after, limit: 8 });
    for (const item of items) {
      const all = await unpack(item);
      for (const [index, one] of all.entries()) {
        if (index < skip) continue;
        if (rows.length === limit || bytes > maxBytes) return page(index, true);
        rows.push(one);
        bytes += Buffer.byteLength(JSON.stringify(one));
      }
      skip = 0;
      after = item.sk;
    }
    if (next === undefined) return page(skip, false);
  }
}

/** Return the last `count` rows, oldest first, with the position after them. */
export async function readStreamTail<Row>(
  records: TableReader<'records'>,
  { pk, prefix, unpack }: Stream<Row>,
  count: number,
): Promise<StreamPage<Row>> {
  const chunks: Row[][] = [];
  let found = 0;
  let last: string | undefined;
  let after: string | undefined;
  do {
    const { items, next } = await records.query({ pk, prefix, after, limit: 4, descending: true });
    for (const item of items) {
      last ??= item.sk.slice(prefix.length);
      const rows = await unpack(item);
      chunks.unshift(rows);
      found += rows.length;
      if (found >= count) break;
    }
    after = next;
  } while (after !== undefined && found < count);
  return { rows: count === 0 ? [] : chunks.flat().slice(-count), position: `${last ?? ''}:0`, more: false };
}
