import type { RegularExpression } from './regular-expression.ts';

/** Names that a filter and an order of one kind of row may use. */
export interface Vocabulary<Row> {
  attributes: Readonly<Record<string, Attribute<Row>>>;
  /** Groups by their published names, for example `metrics`. */
  groups: Readonly<Record<string, Group<Row>>>;
  /** Attributes with several texts per row, by name. A condition holds if one of the texts satisfies it. */
  lists?: Readonly<Record<string, (row: Row) => readonly string[]>>;
  /** Other names of groups. Other names of attributes are separate entries. */
  groupAliases?: Readonly<Record<string, string>>;
  /** Compile the patterns of `~`, or say what is expected instead of one. Filters without it have none. */
  expressions?(pattern: string): RegularExpression | string;
  /** What filters that people type may leave out. Filters without it have names with groups, and texts in quotes. */
  free?: FreeWords<Row>;
}

/** Names without a group, texts without quotes, times in words, and words to find. */
export interface FreeWords<Row> {
  /** Resolve a name without its group, or say in a subordinate clause what is wrong with it. */
  named(name: string): NamedValue<Row> | string;
  /** Return the text in which words are found, in small letters. */
  textOf(row: Row): string;
  /** Return the time that a time in words alone is about. */
  timeOf(row: Row): number | undefined;
  now(): Date;
}

/** Attribute that every row may have. */
export interface Attribute<Row> {
  type: ValueType;
  read(row: Row): SearchValue;
  /** Return what rows are ordered by, where it is not the value itself. */
  order?(row: Row): SearchValue;
  /** Return the value that a text of a filter means, where it is another one. */
  typed?(text: string): string | number | undefined;
}

/**
 * Type of a value. A `time` is milliseconds since 1970; a filter may write it as such or as an ISO 8601 date. A
 * `text-or-number` is a text that compares with numbers as a number.
 */
export type ValueType = 'number' | 'text' | 'time' | 'text-or-number';

/** Value of a row. Null and undefined mean that it is missing. */
export type SearchValue = string | number | null | undefined;

/** Values of a row with names that its owner chose. */
export interface Group<Row> {
  type: ValueType;
  read(row: Row, key: string): SearchValue;
}

/** Resolved name. */
export interface NamedValue<Row> {
  /** Name in error messages. */
  label: string;
  type: ValueType;
  read(row: Row): SearchValue;
  /** Return what rows are ordered by, where it is not the value itself. */
  order?(row: Row): SearchValue;
  /** Return all values if a row may have several. Rows cannot be ordered by such a name. */
  readAll?(row: Row): readonly string[];
  /** Attribute that the name stands for. Undefined for a key of a group. */
  attribute?: string;
  /** Return the value that a text of a filter means, where it is another one. */
  typed?(text: string): string | number | undefined;
  /** Say in a subordinate clause that none of these rows has the name. Without it, the name need not be that of a row. */
  absence?(rows: Iterable<Row>): string;
}

/** List the names of a vocabulary for an error message. */
export const namesOf = <Row>({ attributes, groups, lists = {} }: Vocabulary<Row>): string =>
  [
    ...Object.keys(attributes),
    ...Object.keys(groups).map((group) => `${group}.<name>`),
    ...Object.keys(lists),
  ].join(', ');

/** Resolve a name with its optional group. Return undefined if the vocabulary has no such name. */
export function nameIn<Row>(
  vocabulary: Vocabulary<Row>,
  group: string | undefined,
  key: string,
): NamedValue<Row> | undefined {
  if (group === undefined || attributePrefixes.has(group)) {
    const attribute = own(vocabulary.attributes, key);
    return attribute && { label: key, ...attribute, attribute: key };
  }
  const alias = own(vocabulary.groupAliases ?? {}, group) ?? group;
  const label = `${alias}.${key}`;
  const readAll = own(vocabulary.lists ?? {}, label);
  if (readAll !== undefined) return { label, type: 'text', read: (row) => readAll(row)[0], readAll };
  const named = own(vocabulary.groups, alias);
  return named && { label, type: named.type, read: (row) => named.read(row, key) };
}

/** Optional prefixes of attributes. */
const attributePrefixes = new Set(['attribute', 'attributes', 'attr', 'run']);

const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
