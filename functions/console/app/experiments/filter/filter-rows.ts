import { vocabularyOf, wordsOf } from '../../../../../shared/experiments/search/vocabulary-of.ts';
import { type Filter, parseFilter } from '../../../../../shared/search/parse-filter.ts';
import type { regularExpression } from '../../../../../shared/search/regular-expression.ts';
import { SearchSyntaxError } from '../../../../../shared/search/scanner.ts';
import type { Vocabulary } from '../../../../../shared/search/vocabulary.ts';
import { type Names, namesIn } from '../../runs/columns.ts';
import { Ranking } from '../../runs/ranking.ts';
import { metricOf, paramOf, type Row, tagOf } from '../../runs/row.ts';
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
    // Nothing would be found, or all, for no reason.
    for (const { label, read, absence } of parsed.names)
      if (absence !== undefined && !rows.some((row) => read(row) !== undefined))
        return { rows, fault: faultText(`has ${label}, ${absence(rows)}`) };
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
      unfinished === undefined ? faultText(error.message) : `A value is missing after ${unfinished}.`;
    return { rows, fault };
  }
}

const faultText = (text: string): string => `The filter ${text}${text.endsWith('?') ? '' : '.'}`;

/** Names in the filter box, the same as in the API's filter. */
const freeVocabulary = (
  { params, metrics, tags }: Names,
  ranking: Ranking,
  expressions: typeof regularExpression | undefined,
  text: (row: Row) => string,
): Vocabulary<Row> =>
  vocabularyOf<Row>({
    attributes: {
      experiment_id: ({ experiment_id }) => experiment_id,
      name: ({ name }) => name,
      status: ({ status }) => status,
      kind: ({ kind }) => kind,
      user: ({ user }) => user,
      config: ({ config_id }) => config_id,
      created_at: ({ created_at }) => timeOf(created_at),
      started_at: ({ started_at }) => timeOf(started_at),
      stopped_at: ({ stopped_at }) => timeOf(stopped_at),
      duration: ({ duration }) => duration,
      cost: ({ cost }) => cost,
      best: (row) => ranking.best(row)?.value,
      sweep: ({ sweep_id }) => sweep_id,
      trial: ({ trial }) => trial,
      outcome: ({ outcome }) => outcome,
    },
    metric: metricOf,
    param: paramOf,
    tag: tagOf,
    expressions: expressions ?? (() => 'a regular expression'),
    free: { now: () => new Date(), textOf: text, namesOf: () => [...params, ...metrics, ...tags] },
  });

const timeOf = (time: string | null): number | null => (time === null ? null : Date.parse(time));

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
    text = wordsOf(row, [...Object.values(row.params), ...Object.values(row.tags)]);
    texts.set(row, text);
  }
  return text;
}
