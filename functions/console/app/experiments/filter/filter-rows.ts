import { parseFilter } from '../../../../../shared/search/parse-filter.ts';
import { SearchSyntaxError } from '../../../../../shared/search/scanner.ts';
import { Ranking } from '../../runs/ranking.ts';
import { type Row, vocabularyOf } from '../../runs/row.ts';
import type { Bin } from '../groups/bins.ts';
import { hasWords, namesOfRows, readFreely, UnknownNameError } from './free-filter.ts';

export interface Filtered {
  rows: readonly Row[];
  /** Error in the filter. All rows are shown then. */
  fault: string | undefined;
}

const looksLikeCondition = /[=<>]|\b(?:LIKE|ILIKE|IN|IS)\b/i;

/** A condition that somebody has not typed to its end. */
const withoutValue = /(?:[=<>!]=?|\b(?:I?LIKE|IN|IS))$/i;

/**
 * Filter rows with the API's grammar and parser, or by what looks like conditions and words, because users type
 * these first: `lr < 0.001`, `adam`, `failed`.
 */
export function filterRows(rows: readonly Row[], filter: string, ranking = new Ranking(undefined)): Filtered {
  const wanted = filter.trim();
  if (wanted === '') return { rows, fault: undefined };
  const words = wanted.toLowerCase().split(/\s+/);
  const vocabulary = vocabularyOf((row) => ranking.best(row)?.value);
  if (!looksLikeCondition.test(wanted)) {
    // `user:ada` is a condition, but `cuda:0` may be a value.
    const filtered = wanted.includes(':')
      ? filterFreely(rows, wanted, vocabulary, 'no condition')
      : undefined;
    if (filtered !== undefined && filtered.fault === undefined) return filtered;
    return { rows: rows.filter((row) => hasWords(row, words)), fault: undefined };
  }
  try {
    const { matches } = parseFilter(wanted, vocabulary);
    return { rows: rows.filter(matches), fault: undefined };
  } catch (error) {
    if (!(error instanceof SearchSyntaxError)) throw error;
    const [unfinished] = withoutValue.exec(wanted) ?? [];
    // A name without its group is no error, if only its value is missing.
    const fault =
      unfinished === undefined || error.message.startsWith('ends')
        ? `The filter ${error.message}.`
        : `A value is missing after ${unfinished}.`;
    return filterFreely(rows, wanted, vocabulary, fault);
  }
}

/** Filter by what looks like conditions and words. `fault` is what the grammar says of the text. */
function filterFreely(
  rows: readonly Row[],
  text: string,
  vocabulary: ReturnType<typeof vocabularyOf>,
  fault: string,
): Filtered {
  try {
    const { conditions, words } = readFreely(text, namesOfRows(rows));
    if (conditions === '' || words.some((word) => looksLikeCondition.test(word))) return { rows, fault };
    const { matches } = parseFilter(conditions, vocabulary);
    return { rows: rows.filter((row) => matches(row) && hasWords(row, words)), fault: undefined };
  } catch (error) {
    if (error instanceof UnknownNameError) return { rows, fault: error.message };
    if (error instanceof SearchSyntaxError) return { rows, fault };
    throw error;
  }
}

const quoted = (name: string): string => (/^[\w.]+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** Return the filter condition for a value of a column. */
export const conditionFor = (group: 'params' | 'tags', name: string, value: string): string =>
  `${group}.${quoted(name)} = '${value.replaceAll("'", "''")}'`;

/** Return the filter condition for the numbers of a bin. */
export const conditionForBin = (group: 'params' | 'tags', name: string, { from, to }: Bin): string =>
  `${group}.${quoted(name)} >= ${from} AND ${group}.${quoted(name)} < ${to}`;
