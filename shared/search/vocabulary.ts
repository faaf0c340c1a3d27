/** What a filter and an order of some kind of row may name. */
export interface Vocabulary<Row> {
  attributes: Readonly<Record<string, Attribute<Row>>>;
  /** By their published names, such as `metrics`. */
  groups: Readonly<Record<string, Group<Row>>>;
  /** Texts of which a row may have several, by their names: a condition is met where one of them meets it. */
  lists?: Readonly<Record<string, (row: Row) => readonly string[]>>;
  /** Other names of groups. Those of attributes are entries of their own. */
  groupAliases?: Readonly<Record<string, string>>;
}

/** A value that every row may have. */
export interface Attribute<Row> {
  type: ValueType;
  read(row: Row): SearchValue;
}

/**
 * What a value is. A `time` is milliseconds since 1970, written so or as an ISO 8601 date. A `text-or-number` is a text
 * that is compared as a number with numbers.
 */
export type ValueType = 'number' | 'text' | 'time' | 'text-or-number';

/** A value of a row; null and undefined are missing. */
export type SearchValue = string | number | null | undefined;

/** Values of a row under names that its owner chose. */
export interface Group<Row> {
  type: ValueType;
  read(row: Row, key: string): SearchValue;
}

/** A name as it was resolved. */
export interface NamedValue<Row> {
  /** As an error shows it. */
  label: string;
  type: ValueType;
  read(row: Row): SearchValue;
  /** All values, where a row may have several: rows are not ordered by it. */
  readAll?(row: Row): readonly string[];
  /** Attribute that it is; undefined for a key of a group. */
  attribute?: string;
}

/** What a vocabulary has, for an error. */
export const namesOf = <Row>({ attributes, groups, lists = {} }: Vocabulary<Row>): string =>
  [
    ...Object.keys(attributes),
    ...Object.keys(groups).map((group) => `${group}.<name>`),
    ...Object.keys(lists),
  ].join(', ');

/** The value of a name, with its group where it has one; undefined where the vocabulary has no such name. */
export function nameIn<Row>(
  vocabulary: Vocabulary<Row>,
  group: string | undefined,
  key: string,
): NamedValue<Row> | undefined {
  if (group === undefined || attributePrefixes.has(group)) {
    const attribute = own(vocabulary.attributes, key);
    return attribute && { label: key, type: attribute.type, read: attribute.read, attribute: key };
  }
  const alias = own(vocabulary.groupAliases ?? {}, group) ?? group;
  const label = `${alias}.${key}`;
  const readAll = own(vocabulary.lists ?? {}, label);
  if (readAll !== undefined) return { label, type: 'text', read: (row) => readAll(row)[0], readAll };
  const named = own(vocabulary.groups, alias);
  return named && { label, type: named.type, read: (row) => named.read(row, key) };
}

/** Prefixes that attributes may have. */
const attributePrefixes = new Set(['attribute', 'attributes', 'attr', 'run']);

const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
