import { unknownName } from '../../../../../shared/experiments/search/unknown-name.ts';
import { type Filter, parseFilter } from '../../../../../shared/search/parse-filter.ts';
import type { regularExpression } from '../../../../../shared/search/regular-expression.ts';
import { SearchSyntaxError } from '../../../../../shared/search/scanner.ts';
import type { NamedValue, Vocabulary } from '../../../../../shared/search/vocabulary.ts';
import { type Names, namesIn } from '../../runs/columns.ts';
import { Ranking } from '../../runs/ranking.ts';
import { metricOf, paramOf, type Row, tagOf, vocabularyOf } from '../../runs/row.ts';
import { type Filtered, usesExpressions } from './conditions.ts';

/** A condition that somebody has not typed to its end. */
const withoutValue = /(?:[=<>!~]=?|\b(?:I?LIKE|RLIKE|IN|IS|BETWEEN))$/i;

/** The last word, which may be the beginning of a name. */
const lastWord = /(?:^|(?<=[\s(,]))[\p{L}_][^\s=!<>~,()'"`]*\s*$/u;

/**
 * Filter rows with the API's grammar and parser: `lr < 0.001 or optimizer = lion`, `adam`, `failed`, `yesterday`.
 * @param expressions undefined until the engine of regular expressions is loaded
 */
export function filterRows(
  rows: readonly Row[],
  filter: string,
  ranking = new Ranking(undefined),
  expressions?: typeof regularExpression,
  names = namesIn(rows),
): Filtered {
  const trimmed = filter.trim();
  if (trimmed === '') return { rows, fault: undefined };
  const free = { hasWords: false };
  const vocabulary = freeVocabulary(names, ranking, expressions, (row) => {
    free.hasWords = true;
    return textOf(row);
  });
  try {
    const parsed = parseFilter(trimmed, vocabulary);
    const matching = rows.filter(parsed.matches);
    if (matching.length > 0 || rows.length === 0)
      return { rows: matching, fault: undefined, ...(free.hasWords && free) };
    const before = filter.replace(lastWord, '');
    // Somebody may be typing a name. The rows stay until it is compared with something.
    if (before !== filter && isBeginning(filter.slice(before.length), names, vocabulary))
      return filterRows(rows, before.replace(/\b(?:and|or|not)\s*$/i, ''), ranking, expressions, names);
    return { rows: matching, fault: undefined, ...(free.hasWords && free), ...reasonFor(rows, parsed) };
  } catch (error) {
    if (!(error instanceof SearchSyntaxError)) throw error;
    if (expressions === undefined && usesExpressions(trimmed))
      return { rows, fault: 'Regular expressions are loading…' };
    const [unfinished] = withoutValue.exec(trimmed) ?? [];
    const fault =
      unfinished === undefined
        ? `The filter ${error.message}${error.message.endsWith('?') ? '' : '.'}`
        : `A value is missing after ${unfinished}.`;
    return { rows, fault };
  }
}

const freeVocabulary = (
  names: Names,
  ranking: Ranking,
  expressions: typeof regularExpression | undefined,
  text: (row: Row) => string,
): Vocabulary<Row> => ({
  ...vocabularyOf((row) => ranking.best(row)?.value),
  expressions: expressions ?? (() => 'a regular expression'),
  free: {
    named: (name) =>
      namedIn(name, names) ?? unknownName(name, [...names.params, ...names.metrics, ...names.tags]),
    textOf: text,
    timeOf: ({ created_at }) => Date.parse(created_at),
    now: () => new Date(),
  },
});

/** Find the group of a name that was typed without one: a param, a metric or a tag. */
function namedIn(name: string, { params, metrics, tags }: Names): NamedValue<Row> | undefined {
  const find = (list: readonly string[]) =>
    list.find((one) => one === name) ?? list.find((one) => one.toLowerCase() === name.toLowerCase());
  const [param, metric, tag] = [find(params), find(metrics), find(tags)];
  if (param !== undefined)
    return { label: param, type: 'text-or-number', read: (row) => paramOf(row, param) };
  if (metric !== undefined) return { label: metric, type: 'number', read: (row) => metricOf(row, metric) };
  return tag === undefined
    ? undefined
    : { label: tag, type: 'text-or-number', read: (row) => tagOf(row, tag) };
}

const isBeginning = (typed: string, { params, metrics, tags }: Names, { attributes }: Vocabulary<Row>) => {
  const word = typed
    .trim()
    .toLowerCase()
    .replace(/^(?:params|metrics|tags)\./, '');
  return [params, metrics, tags, Object.keys(attributes)].some((list) =>
    list.some((name) => name.toLowerCase().startsWith(word)),
  );
};

/** Say which condition no row meets, or that no row meets all of them. */
function reasonFor(rows: readonly Row[], { parts }: Filter<Row>): { reason?: string } {
  if (parts.length < 2) return {};
  const counts = parts.map(({ text, matches }) => ({ text, count: rows.filter(matches).length }));
  const none = counts.find(({ count }) => count === 0);
  if (none !== undefined) return { reason: `none has ${none.text}` };
  return { reason: `${counts.map(({ text, count }) => `${count} with ${text}`).join(', ')}, none with all` };
}

const texts = new WeakMap<Row, string>();

/** Return the text in which words are found: name, status, ID, configuration, params and tags. */
function textOf(row: Row): string {
  let text = texts.get(row);
  if (text === undefined) {
    const { name, experiment_id, status, config_id, params, tags } = row;
    text =
      `${name} ${experiment_id} ${status} ${config_id ?? ''} ${Object.values(params).join(' ')} ${Object.values(tags).join(' ')}`.toLowerCase();
    texts.set(row, text);
  }
  return text;
}
