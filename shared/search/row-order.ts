import { decimalPattern } from '../core/text/decimal.ts';
import { Scanner } from './scanner.ts';
import type { NamedValue, SearchValue, ValueType, Vocabulary } from './vocabulary.ts';

/**
 * Order of rows: by its terms, then newest first by id. NaN and missing values come last in both directions. Texts
 * compare by at most 250 characters, which all terms share.
 */
export class RowOrder<Row> {
  readonly #terms: readonly OrderTerm<Row>[];
  readonly #idOf: (row: Row) => string;
  readonly #cut: number;

  /** @param idOf returns the id of a row; ids sort by creation */
  constructor(terms: readonly OrderTerm<Row>[], idOf: (row: Row) => string) {
    this.#terms = terms;
    this.#idOf = idOf;
    this.#cut = Math.floor(maxCompared / Math.max(1, terms.length));
  }

  positionOf(row: Row): Position {
    const keys = this.#terms.map(({ name }) => sortKey((name.order ?? name.read)(row), name.type, this.#cut));
    return { keys, id: this.#idOf(row) };
  }

  /** Compare two positions. Return a negative number if the first comes first, and 0 only for the same row. */
  compare(position: Position, other: Position): number {
    for (const [index, { descending }] of this.#terms.entries()) {
      const [key, otherKey] = [position.keys[index], other.keys[index]];
      if (key === undefined || otherKey === undefined) continue;
      const difference = compareKeys(key, otherKey, descending);
      if (difference !== 0) return difference;
    }
    return position.id === other.id ? 0 : position.id > other.id ? -1 : 1;
  }

  /** Whether a position fits this order: it must have as many keys. */
  takes({ keys }: Position): boolean {
    return keys.length === this.#terms.length;
  }
}

/** Value that rows are ordered by. */
export interface OrderTerm<Row> {
  name: NamedValue<Row>;
  descending: boolean;
}

/** Characters (UTF-16 units) that all terms of an order together compare. The limit keeps positions short. */
const maxCompared = 250;

/** Position of a row in an order. */
export interface Position {
  keys: readonly SortKey[];
  id: string;
}

/** Sort key of a value: its rank, then the value within the rank. */
type SortKey = readonly [rank: number, value: string | number];

function sortKey(value: SearchValue, type: ValueType, cut: number): SortKey {
  if (value === undefined || value === null) return [ranks.missing, 0];
  if (typeof value === 'number') return Number.isNaN(value) ? [ranks.nan, 0] : [ranks.number, value];
  if (type === 'text-or-number' && decimalPattern.test(value)) return [ranks.number, Number(value)];
  return [ranks.text, value.slice(0, cut).toWellFormed()];
}

/** Ranks of values. They ascend in both directions. */
const ranks = { number: 0, text: 1, nan: 2, missing: 3 } as const;

function compareKeys([rank, value]: SortKey, [otherRank, other]: SortKey, descending: boolean): number {
  if (rank !== otherRank) return rank - otherRank;
  if (value === other) return 0;
  return value < other === descending ? 1 : -1;
}

/** Encode a position as a text of at most 950 bytes with four terms. */
export const encodePosition = ({ keys, id }: Position): string =>
  [id, ...keys.map(keyText).map((text) => `${text.length}:${text}`)].join(' ');

const keyText = ([rank, value]: SortKey): string => `${rank}${String(value)}`;

/** Decode a position. Return undefined for a text that {@link encodePosition} did not write. */
export function decodePosition(text: string): Position | undefined {
  if (text.length > maxPosition) return undefined;
  const space = text.indexOf(' ');
  const id = space < 0 ? text : text.slice(0, space);
  const keys: SortKey[] = [];
  for (let at = space; at >= 0 && at < text.length; ) {
    const [whole, length] = /^ (\d{1,4}):/.exec(text.slice(at, at + 6)) ?? [];
    if (whole === undefined || length === undefined) return undefined;
    const from = at + whole.length;
    const key = text.slice(from, from + Number(length));
    const rank = Number(key.charAt(0));
    if (key.length !== Number(length) || !/^[0-3]/.test(key)) return undefined;
    const value = rank === ranks.text ? key.slice(1) : Number(key.slice(1));
    if (typeof value === 'number' && Number.isNaN(value)) return undefined;
    keys.push([rank, value]);
    at = from + key.length;
  }
  return { keys, id };
}

const maxPosition = 4000;

/** Parse the terms of an order, the most significant first. An empty text has none. @throws SearchSyntaxError */
export function parseOrder<Row>(text: string, vocabulary: Vocabulary<Row>): OrderTerm<Row>[] {
  const scanner = new Scanner(text);
  const terms: OrderTerm<Row>[] = [];
  if (scanner.isAtEnd) return terms;
  do {
    const { at } = scanner;
    const name = scanner.name(vocabulary);
    if (name.readAll !== undefined) return scanner.fail('a name with a single value per row', at);
    terms.push({ name, descending: scanner.keyword('ASC', 'DESC') === 'DESC' });
  } while (scanner.sign(',') !== undefined);
  return scanner.isAtEnd ? terms : scanner.fail('ASC, DESC, a comma or the end');
}
