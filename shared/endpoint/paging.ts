import * as z from 'zod';
import type { Page } from '../data/table.ts';
import { integer } from './parameters.ts';
import { Reply } from './reply.ts';

const cursorPrefix = 'after:';
/** What a sort key takes (1,024 bytes), less the prefix that an entity puts before it. */
const sortKeyMaxBytes = 1000;

const encodeCursor = (after: string): string => Buffer.from(`${cursorPrefix}${after}`).toString('base64url');

function decodeCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const after = text.slice(cursorPrefix.length);
  // What does not lead back to the same cursor was never a text that was encoded here.
  const isOurs = text.startsWith(cursorPrefix) && encodeCursor(after) === cursor;
  return isOurs && after !== '' && Buffer.byteLength(after) <= sortKeyMaxBytes ? after : undefined;
}

const cursorPattern = /^[A-Za-z0-9_-]+$/;

/** An opaque cursor of an earlier answer; parses to the sort key to go on after. */
const Cursor = z
  .string()
  .max(2000, 'is too long to be a cursor')
  .regex(cursorPattern, 'is not a cursor of an earlier answer')
  .transform((cursor, context) => {
    const after = decodeCursor(cursor);
    if (after !== undefined) return after;
    context.addIssue('is not a cursor of an earlier answer');
    return z.NEVER;
  })
  .meta({ type: 'string', maxLength: 2000, pattern: cursorPattern.source });

/** Query parameters of every list. */
export const paging = { limit: integer(1, 1000).optional(), cursor: Cursor.optional() };

export interface Paging {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** Most bytes of a list's body, below the 6 MB that Lambda answers. */
const bodyMaxBytes = 4_000_000;
const pageMost = 1000;

/** The `Link` header that leads to the next page; its absence alone means the end. */
export function nextLink(after: string, query: Readonly<Record<string, string>> = {}): { Link: string } {
  const cursor = encodeCursor(after);
  return { Link: `<?${new URLSearchParams({ ...query, cursor }).toString()}>; rel="next"` };
}

/**
 * Answers a list: `limit` rows after the cursor, or without `limit` all of them, up to 4 MB of body.
 * `fetch` reads one page; `keyOf` is the sort key of a row, after which a later page goes on.
 */
export async function answerList<Row, Shown>(
  { limit, cursor }: Paging,
  list: {
    fetch(page: { limit: number; after: string | undefined }): Promise<Page<Row>>;
    keyOf(row: Row): string;
    show(row: Row): Shown;
  },
): Promise<Reply<Shown[]>> {
  const shown: Shown[] = [];
  let bytes = 2;
  let last: string | undefined;
  let after = cursor;
  for (;;) {
    // One row more than is shown tells whether more follow, so that the last page never leads to an empty one.
    const page = await list.fetch({
      limit: limit === undefined ? pageMost : limit - shown.length + 1,
      after,
    });
    for (const row of page.items) {
      const one = list.show(row);
      bytes += Buffer.byteLength(JSON.stringify(one)) + 1;
      if (last !== undefined && (shown.length === limit || bytes > bodyMaxBytes)) {
        return Reply.json(shown, {
          headers: nextLink(last, limit === undefined ? {} : { limit: `${limit}` }),
        });
      }
      shown.push(one);
      last = list.keyOf(row);
    }
    if (page.next === undefined) return Reply.json(shown);
    after = page.next;
  }
}

/** Query parameters of a list that a running job still appends to. */
export const streamPaging = (most: number) => ({
  limit: integer(1, most).optional(),
  cursor: Cursor.optional(),
});

/** The `Link` header that goes on after a position of such a list, with the other parameters as they were. */
export function streamLink(
  position: string,
  query: Readonly<Record<string, string | number | undefined>>,
): { Link: string } {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return nextLink(position, Object.fromEntries(given));
}
