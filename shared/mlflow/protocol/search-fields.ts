import * as z from 'zod';
import { breathe } from '../../core/stop-signal.ts';
import { maxRowsPayloadBytes, payloadBytes } from '../../http/answer/payload-bytes.ts';
import { Reply } from '../../http/definition/reply.ts';
import { type Filter, parseFilter } from '../../search/parse-filter.ts';
import {
  decodePosition,
  encodePosition,
  type OrderTerm,
  type Position,
  parseOrder,
  type RowOrder,
} from '../../search/row-order.ts';
import { SearchSyntaxError } from '../../search/scanner.ts';
import type { RowPage } from '../../search/select-page.ts';
import type { Vocabulary } from '../../search/vocabulary.ts';
import { mlflowError } from './mlflow-error.ts';
import { int64, text } from './scalars.ts';

/** Limit and default for the number of results. Infinity means no limit. */
export const maxResults = (most: number, usual: number) =>
  int64
    .refine(
      (value) => value > 0 && value <= most,
      most === Infinity
        ? 'It must be a positive integer.'
        : `It must be a positive integer of at most ${most}.`,
    )
    .default(usual);

/** Maximum number of results of a request without its own limit (MLflow's `SEARCH_MAX_RESULTS_THRESHOLD`). */
const resultsMost = 50_000;

/** Maximum terms of an order, and the fault of more. All rows are compared by all of them. */
export const maxTerms = [10, 'exceeds 10 terms, the maximum of one order'] as const;

/** Fields of every search. */
export const searchFields = {
  filter: text.default(''),
  order_by: z
    .array(text)
    .max(...maxTerms)
    .default([]),
  max_results: maxResults(resultsMost, 1000),
  page_token: text.default(''),
};

/** Whether a search finds deleted items. Clients send a name or a number. */
export const viewType = z
  .union([
    z.enum(['ACTIVE_ONLY', 'DELETED_ONLY', 'ALL']),
    int64.pipe(z.number().min(1).max(3)).transform((number) => views[number - 1] ?? 'ACTIVE_ONLY'),
  ])
  .default('ACTIVE_ONLY');
const views = ['ACTIVE_ONLY', 'DELETED_ONLY', 'ALL'] as const;

export const isInView = (view: z.output<typeof viewType>, isDeleted: boolean): boolean =>
  view === 'ALL' || isDeleted === (view === 'DELETED_ONLY');

const maxExperiments = 1000;

/** Ids of the experiments to search. */
export const experimentIds = z
  .array(text.min(1))
  .max(maxExperiments, `exceeds ${maxExperiments} experiments, the maximum of one search`);

/**
 * Decode a page token for this order; undefined without a token.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` for a token that does not fit a search in this order
 */
export function pageAfter<Row>(token: string, order: RowOrder<Row>): Position | undefined {
  return positionOf(token, (sent) => {
    const position = decodePosition(sent);
    return position !== undefined && order.takes(position) ? position : undefined;
  });
}

/**
 * Decode a page token; undefined without one.
 * @param read parses the position in a text; undefined for a text that no page of this search produced
 * @throws ServiceError `INVALID_PARAMETER_VALUE`
 */
export function positionOf<P>(token: string, read: (text: string) => P | undefined): P | undefined {
  if (token === '') return undefined;
  const position = read(Buffer.from(token, 'base64url').toString('utf8'));
  if (position !== undefined) return position;
  throw mlflowError('INVALID_PARAMETER_VALUE', 'Invalid page token: it does not belong to this search.');
}

export const readFilter = <Row>(filter: string, vocabulary: Vocabulary<Row>): Filter<Row> =>
  understood('filter', () => parseFilter(filter, vocabulary));

/** Translate a syntax error of a filter or order. @throws ServiceError `INVALID_PARAMETER_VALUE` */
function understood<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SearchSyntaxError)) throw error;
    throw mlflowError('INVALID_PARAMETER_VALUE', `Invalid ${name}: it ${error.message}.`);
  }
}

export function readOrder<Row>(texts: readonly string[], vocabulary: Vocabulary<Row>): OrderTerm<Row>[] {
  const terms = understood('order_by clause', () => texts.flatMap((text) => parseOrder(text, vocabulary)));
  // The caller adds up to two, which make the order complete.
  if (terms.length <= maxTerms[0] + 2) return terms;
  throw mlflowError('INVALID_PARAMETER_VALUE', `Invalid order_by clause: it ${maxTerms[1]}.`);
}

/**
 * Build a response with as many rows of a page as fit, at least one. Clients follow the token until they have all
 * rows, whatever their size. Each row is serialized once, to count its bytes and to send it.
 * @param name response field for the rows
 * @param show converts the rows to MLflow's format, or to its JSON, in the same order; as an iterator, each when it
 * is wanted
 */
export async function answerPage<Row>(
  name: string,
  { rows, next }: RowPage<Row>,
  order: RowOrder<Row>,
  show: (rows: readonly Row[]) => Promise<Iterable<object | string>> | Iterable<object | string>,
): Promise<Reply<never>> {
  const shown: string[] = [];
  let bytes = 0;
  let sent = 0;
  for (let from = 0; from < rows.length; from += shownAtOnce) {
    for (const one of await show(rows.slice(from, from + shownAtOnce))) {
      await breathe();
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

/** Rows that are converted at once, before their bytes are counted. */
const shownAtOnce = 250;

/**
 * Maximum bytes of the rows in a response. This usually stays below Lambda's limit. A single row has up to 0.4 MB.
 */
const answerMaxBytes = 4_500_000;

function reply(name: string, shown: readonly string[], next: Position | undefined): Reply<never> {
  const token =
    next === undefined ? '' : `,"next_page_token":${JSON.stringify(tokenOf(encodePosition(next)))}`;
  return Reply.content('application/json', `{${JSON.stringify(name)}:[${shown.join(',')}]${token}}`);
}

/** Encode a position as a page token. */
const tokenOf = (position: string): string => Buffer.from(position).toString('base64url');
