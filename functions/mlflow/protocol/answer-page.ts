import { encodePosition, type RowOrder } from '../../../shared/search/row-order.ts';
import type { RowPage } from '../../../shared/search/select-page.ts';
import { tokenOf } from './search-fields.ts';

/** Most bytes of the rows of an answer: Lambda takes 6 MB, and a single row has up to 0.4. */
const answerMaxBytes = 4_500_000;
/** Rows that are shown before their bytes are counted. */
const shownAtOnce = 250;

/** Rows of an answer as clients know them, and the token of the next page. */
export interface AnswerPage {
  shown: object[];
  next: { next_page_token?: string };
}

/**
 * As many of the rows of a page as an answer takes, at least one. Clients follow the token, so that all they asked for
 * arrives, however large it is.
 * @param show the rows as clients know them, in the same order
 */
export async function answerPage<Row>(
  { rows, next }: RowPage<Row>,
  order: RowOrder<Row>,
  show: (rows: readonly Row[]) => Promise<object[]> | object[],
): Promise<AnswerPage> {
  const shown: object[] = [];
  let bytes = 0;
  for (let from = 0; from < rows.length; from += shownAtOnce) {
    for (const one of await show(rows.slice(from, from + shownAtOnce))) {
      bytes += Buffer.byteLength(JSON.stringify(one)) + 1;
      const last = rows[shown.length - 1];
      if (bytes > answerMaxBytes && last !== undefined)
        return { shown, next: { next_page_token: tokenOf(encodePosition(order.positionOf(last))) } };
      shown.push(one);
    }
  }
  return { shown, next: next === undefined ? {} : { next_page_token: tokenOf(encodePosition(next)) } };
}
