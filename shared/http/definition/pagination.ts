import { setImmediate } from 'node:timers/promises';
import { breathe } from '../../core/stop-signal.ts';
import type { UnreadableRecordError } from '../../data/table/item.ts';
import type { Page } from '../../data/table/table.ts';
import { maxRowsPayloadBytes, payloadBytes } from '../answer/payload-bytes.ts';
import { Cursor } from './cursor.ts';
import { integer } from './parameters.ts';
import { type QueryValue, Reply } from './reply.ts';

/** Query parameters of every list. */
export const paging = {
  limit: integer(1, 1000)
    .optional()
    .describe('Maximum number of rows, such as `100`. Default: all rows, up to 4 MB.'),
  cursor: Cursor.optional(),
};

export interface Paging {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** Query parameters that choose the list. The link to the next page repeats them. */
type Filters = Readonly<Record<string, QueryValue>>;

const maxPage = 1000;

/** Maximum bytes of a list's body. Escaped for Lambda, it usually still fits into a payload. */
const bodyMaxBytes = 4_000_000;

/**
 * Respond with a list: `limit` rows after the cursor, or without `limit` all of them, up to 4 MB of body. Rows
 * that cannot be read are left out and reported.
 */
export async function answerList<Stored, Row, Shown>(
  { limit, cursor, ...filters }: Paging & Filters,
  list: List<Stored, Row, Shown>,
): Promise<Reply<Shown[]>> {
  const shown: Shown[] = [];
  let bytes = 2;
  let sent = 2;
  let last: string | undefined;
  const unreadable: UnreadableRecordError[] = [];
  // Read one row more than the answer shows. It tells whether more follow, so the last page never links to an empty one.
  const wanted = () => (limit === undefined ? maxPage : limit - shown.length + 1);
  let reading = beginPage<Stored, Row>(list, { limit: wanted(), after: cursor });
  try {
    for (;;) {
      const page = await reading;
      // A client that names a limit gets all these rows in one answer, so read the next ones during the work on these.
      const isMore = limit !== undefined && page.next !== undefined && page.count < wanted();
      if (isMore) reading = beginPage<Stored, Row>(list, { limit: wanted() - page.count, after: page.next });
      const { items, unreadable: lacking = [] } = await page.rows();
      unreadable.push(...lacking);
      for (const row of items) {
        // A row may have hundreds of kilobytes.
        await breathe();
        const one = list.show(row);
        const text = JSON.stringify(one);
        bytes += Buffer.byteLength(text) + 1;
        sent += payloadBytes(text) + 1;
        const isFull = bytes > bodyMaxBytes || sent > maxRowsPayloadBytes;
        if (last !== undefined && (shown.length === limit || isFull)) {
          return Reply.json(shown, { unreadable, next: { after: last, query: { ...filters, limit } } });
        }
        shown.push(one);
        last = list.keyOf(row);
      }
      if (page.next === undefined) return Reply.json(shown, { unreadable });
      if (!isMore) reading = beginPage<Stored, Row>(list, { limit: wanted(), after: page.next });
      // Let other requests run between two pages, however fast the store is.
      await setImmediate();
    }
  } finally {
    // A list that is full, or that cannot show a row, leaves no read behind.
    await reading.catch(() => undefined);
  }
}

/** The rows of a list, and how to show them. */
type List<Stored, Row, Shown> = Source<Stored, Row> & {
  show(row: Row): Shown;
  /** Return the sort key of a row, after which the next page starts. */
  keyOf(row: Row): string;
};

/** Reads a list page by page. */
type Source<Stored, Row> =
  | { fetch: Fetch<Row>; complete?: never }
  | {
      fetch: Fetch<Stored>;
      /** Read what belongs to the rows of a page, at the same time as the next page. It may leave rows out. */
      complete(page: Page<Stored>): Promise<Omit<Page<Row>, 'next'>>;
    };

type Fetch<Row> = (page: { limit: number; after: string | undefined }) => Promise<Page<Row>>;

/** Read the rows of a page. What belongs to them is read when `rows` is called. */
async function beginPage<Stored, Row>(source: Source<Stored, Row>, at: Parameters<Fetch<Row>>[0]) {
  if (source.complete === undefined) {
    const page = await source.fetch(at);
    return { next: page.next, count: page.items.length, rows: async () => page };
  }
  const page = await source.fetch(at);
  return { next: page.next, count: page.items.length, rows: () => source.complete(page) };
}

/** Query parameters of a list to which a running job may still append. */
export const streamPaging = (most: number) => ({
  limit: integer(1, most)
    .optional()
    .describe('Maximum number of rows, such as `1000`. Default: all rows, up to 4 MB.'),
  cursor: Cursor.optional(),
});
