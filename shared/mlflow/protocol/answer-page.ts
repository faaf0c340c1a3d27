import { maxRowsPayloadBytes, payloadBytes } from '../../http/answer/payload-bytes.ts';
import { Reply } from '../../http/definition/reply.ts';
import { encodePosition, type Position, type RowOrder } from '../../search/row-order.ts';
import type { RowPage } from '../../search/select-page.ts';
import { tokenOf } from './search-fields.ts';

/** Most bytes of the rows of an answer, which are usually fewer than Lambda sends. A single row has up to 0.4 MB. */
const answerMaxBytes = 4_500_000;
/** Rows that are shown before their bytes are counted. */
const shownAtOnce = 250;

function reply(name: string, shown: readonly string[], next: Position | undefined): Reply<never> {
  const token =
    next === undefined ? '' : `,"next_page_token":${JSON.stringify(tokenOf(encodePosition(next)))}`;
  return Reply.content('application/json', `{${JSON.stringify(name)}:[${shown.join(',')}]${token}}`);
}

/**
 * The answer with as many of the rows of a page as it takes, at least one. Clients follow the token, so that all they
 * asked for arrives, however large it is. The text of each row is made once, to count its bytes and to be sent.
 * @param name field of the answer that holds the rows
 * @param show the rows as clients know them, or their JSON, in the same order
 */
export async function answerPage<Row>(
  name: string,
  { rows, next }: RowPage<Row>,
  order: RowOrder<Row>,
  show: (rows: readonly Row[]) => Promise<(object | string)[]> | object[],
): Promise<Reply<never>> {
  const shown: string[] = [];
  let bytes = 0;
  let sent = 0;
  for (let from = 0; from < rows.length; from += shownAtOnce) {
    for (const one of await show(rows.slice(from, from + shownAtOnce))) {
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      bytes += Buffer.byteLength(text) + 1;
      sent += payloadBytes(text) + 1;
      const last = rows[shown.length - 1];
      if ((bytes > answerMaxBytes || sent > maxRowsPayloadBytes) && last !== undefined)
        return reply(name, shown, order.positionOf(last));
      shown.push(text);
    }
  }
  return reply(name, shown, next);
}
