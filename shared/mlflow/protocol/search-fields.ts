import * as z from 'zod';
import { type Filter, parseFilter } from '../../search/parse-filter.ts';
import { type OrderTerm, parseOrder } from '../../search/parse-order.ts';
import { decodePosition, type Position, type RowOrder } from '../../search/row-order.ts';
import { SearchSyntaxError } from '../../search/search-syntax-error.ts';
import type { Vocabulary } from '../../search/vocabulary.ts';
import { mlflowError } from './mlflow-error.ts';
import { int64, text } from './scalars.ts';

/** Most results that a client may ask for where MLflow says nothing else (`SEARCH_MAX_RESULTS_THRESHOLD`). */
const resultsMost = 50_000;

/** Whether what is marked as deleted is found, as clients say it: by name or by number. */
export const viewType = z
  .union([
    z.enum(['ACTIVE_ONLY', 'DELETED_ONLY', 'ALL']),
    int64.pipe(z.number().min(1).max(3)).transform((number) => views[number - 1] ?? 'ACTIVE_ONLY'),
  ])
  .default('ACTIVE_ONLY');
const views = ['ACTIVE_ONLY', 'DELETED_ONLY', 'ALL'] as const;

export const isInView = (view: z.output<typeof viewType>, isDeleted: boolean): boolean =>
  view === 'ALL' || isDeleted === (view === 'DELETED_ONLY');

/** How many results a client may ask for, and gets where it does not say. Infinity is no limit. */
export const maxResults = (most: number, usual: number) =>
  int64
    .refine(
      (value) => value > 0 && value <= most,
      most === Infinity
        ? 'It must be a positive integer.'
        : `It must be a positive integer of at most ${most}.`,
    )
    .default(usual);

const maxExperiments = 1000;

/** Ids of the experiments that a search looks through. */
export const experimentIds = z
  .array(text.min(1))
  .max(maxExperiments, `exceeds ${maxExperiments} experiments, the most that one search looks through`);

/** Fields of every search. */
export const searchFields = {
  filter: text.default(''),
  order_by: z.array(text).default([]),
  max_results: maxResults(resultsMost, 1000),
  page_token: text.default(''),
};

/** @throws ServiceError `INVALID_PARAMETER_VALUE` for a token that no page of a search in this order has had */
export function pageAfter<Row>(token: string, order: RowOrder<Row>): Position | undefined {
  return positionOf(token, (sent) => {
    const position = decodePosition(sent);
    return position !== undefined && order.takes(position) ? position : undefined;
  });
}

/** @throws ServiceError `INVALID_PARAMETER_VALUE` for text that is no filter or order */
function understood<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SearchSyntaxError)) throw error;
    throw mlflowError('INVALID_PARAMETER_VALUE', `Invalid ${name}: it ${error.message}.`);
  }
}

export const readFilter = <Row>(filter: string, vocabulary: Vocabulary<Row>): Filter<Row> =>
  understood('filter', () => parseFilter(filter, vocabulary));

export const readOrder = <Row>(terms: readonly string[], vocabulary: Vocabulary<Row>): OrderTerm<Row>[] =>
  understood('order_by clause', () => terms.flatMap((term) => parseOrder(term, vocabulary)));

/** The token of a page, and the position that it stands for. */
export const tokenOf = (position: string): string => Buffer.from(position).toString('base64url');

/**
 * The position that a token stands for; undefined without one.
 * @param read the position of a text, undefined for one that no page of this search has had
 * @throws ServiceError `INVALID_PARAMETER_VALUE`
 */
export function positionOf<P>(token: string, read: (text: string) => P | undefined): P | undefined {
  if (token === '') return undefined;
  const position = read(Buffer.from(token, 'base64url').toString('utf8'));
  if (position !== undefined) return position;
  throw mlflowError('INVALID_PARAMETER_VALUE', 'Invalid page token: it is not one of this search.');
}
