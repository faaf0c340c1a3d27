import { setImmediate } from 'node:timers/promises';
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
 * that cannot be read are left out and reported. `fetch` reads one page; `keyOf` returns the sort key of a row,
 * after which the next page starts.
 */
export async function answerList<Row, Shown>(
  { limit, cursor, ...filters }: Paging & Filters,
  list: {
    fetch(page: { limit: number; after: string | undefined }): Promise<Page<Row>>;
    keyOf(row: Row): string;
    show(row: Row): Shown;
  },
): Promise<Reply<Shown[]>> {
  const shown: Shown[] = [];
  let bytes = 2;
  let sent = 2;
  let last: string | undefined;
  const unreadable: UnreadableRecordError[] = [];
  let after = cursor;
  for (;;) {
    // Fetch one row more than the page shows. It tells whether more follow, so the last page never links to an
    // empty one.
    const page = await list.fetch({
      limit: limit === undefined ? maxPage : limit - shown.length + 1,
      after,
    });
    unreadable.push(...(page.unreadable ?? []));
    for (const row of page.items) {
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
    after = page.next;
    // Let other requests run between two pages, however fast the store is.
    await setImmediate();
  }
}

/** Query parameters of a list to which a running job may still append. */
export const streamPaging = (most: number) => ({
  limit: integer(1, most)
    .optional()
    .describe('Maximum number of rows, such as `1000`. Default: all rows, up to 4 MB.'),
  cursor: Cursor.optional(),
});
