import { parseFilter } from '../../../../shared/search/parse-filter.ts';
import { SearchSyntaxError } from '../../../../shared/search/scanner.ts';
import type { Bin } from './bins.ts';
import { type Row, vocabulary } from './row.ts';

export interface Filtered {
  rows: readonly Row[];
  /** What is wrong with the filter; all rows are shown then. */
  fault: string | undefined;
}

const looksLikeCondition = /[=<>]|\b(?:LIKE|ILIKE|IN|IS)\b/i;

/**
 * The rows that a filter finds, by the API's own grammar and parser. Words without a condition are looked for in names,
 * tags and ids, because that is what people type first.
 */
export function filterRows(rows: readonly Row[], filter: string): Filtered {
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
    const { matches } = parseFilter(wanted, vocabulary);
    return { rows: rows.filter(matches), fault: undefined };
  } catch (error) {
    if (error instanceof SearchSyntaxError) return { rows, fault: `The filter ${error.message}.` };
    throw error;
  }
}

const quoted = (name: string): string => (/^[\w.]+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** A condition for one value of a column, as the filter box takes it. */
export const conditionFor = (group: 'params' | 'tags', name: string, value: string): string =>
  `${group}.${quoted(name)} = '${value.replaceAll("'", "''")}'`;

/** The same for the numbers of a bin. */
export const conditionForBin = (group: 'params' | 'tags', name: string, { from, to }: Bin): string =>
  `${group}.${quoted(name)} >= ${from} AND ${group}.${quoted(name)} < ${to}`;
