import { experimentAttributes } from '../../../../../shared/experiments/experiment-attributes.ts';
import type { Row } from '../../runs/row.ts';
import type { Bin } from '../groups/bins.ts';

const isWord = (text: string): boolean => /^[^\s=!<>~,()'"`]+$/.test(text);
const quoted = (name: string): string => (isWord(name) ? name : `\`${name.replaceAll('`', '``')}\``);
const quotedValue = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Return the filter condition for a value of a column. */
export const conditionFor = (group: 'params' | 'tags', name: string, value: string): string =>
  `${group}.${quoted(name)} = ${quotedValue(value)}`;

const attributes: ReadonlySet<string> = new Set(experimentAttributes);
const reserved = /^(?:not$|(?:metrics?|params?|parameters?|tags?|attributes?|attr|run)\.)/i;

/** Return a name as a filter has it: without its group unless that means something else. */
export const nameText = (name: string, group?: 'params' | 'metrics' | 'tags'): string =>
  group !== undefined && (attributes.has(name.toLowerCase()) || reserved.test(name))
    ? `${group}.${quoted(name)}`
    : quoted(name);

/** Return a value as a filter has it. */
export const valueText = (value: string): string =>
  /^[\p{L}\d_][\p{L}\d_.+-]*$/u.test(value) ? value : quotedValue(value);

/** Return the filter condition for the numbers of a bin. */
export const conditionForBin = (group: 'params' | 'tags', name: string, { from, to }: Bin): string =>
  `${group}.${quoted(name)} >= ${from} AND ${group}.${quoted(name)} < ${to}`;

/** Add a condition that the rows of a filter must meet, too. */
export function withCondition(filter: string, condition: string): string {
  const trimmed = filter.trim();
  if (trimmed === '') return condition;
  return `${/\bor\b/i.test(trimmed) ? `(${trimmed})` : trimmed} AND ${condition}`;
}

export interface Filtered {
  rows: readonly Row[];
  /** Error in the filter. All rows are shown then. */
  fault: string | undefined;
  /** Why no row is left, where the filter alone does not say it. */
  reason?: string;
  /** Whether it has words that may stand in any param or tag. */
  hasWords?: boolean;
}

/** Whether a filter has regular expressions. */
export const usesExpressions = (filter: string): boolean => /~|\brlike\b/i.test(filter);
