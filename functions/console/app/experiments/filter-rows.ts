import { parseFilter } from '../../../../shared/search/parse-filter.ts';
import { SearchSyntaxError } from '../../../../shared/search/scanner.ts';
import type { Bin } from './bins.ts';
import { Ranking } from './ranking.ts';
import { type Row, vocabularyOf } from './row.ts';

export interface Filtered {
  rows: readonly Row[];
  /** Error in the filter. All rows are shown then. */
  fault: string | undefined;
}

const looksLikeCondition = /[=<>]|\b(?:LIKE|ILIKE|IN|IS)\b/i;

/**
 * Filter rows with the API's grammar and parser. Search words without a condition in names, tags and IDs, because
 * users type these first.
 */
export function filterRows(rows: readonly Row[], filter: string, ranking = new Ranking(undefined)): Filtered {
  const wanted = filter.trim();
  if (wanted === '') return { rows, fault: undefined };
  if (!looksLikeCondition.test(wanted)) {
    const words = wanted.toLowerCase().split(/\s+/);
    const has = (row: Row) => {
      const text =
        `${row.name} ${row.experiment_id} ${row.status} ${Object.values(row.tags).join(' ')}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return { rows: rows.filter(has), fault: undefined };
  }
  try {
    const { matches } = parseFilter(
      wanted,
      vocabularyOf((row) => ranking.best(row)?.value),
    );
    return { rows: rows.filter(matches), fault: undefined };
  } catch (error) {
    if (error instanceof SearchSyntaxError) return { rows, fault: `The filter ${error.message}.` };
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
