import * as z from 'zod';
import type { Page } from '../../../shared/data/table/table.ts';
import type { Trial } from './trial-rows.ts';

/** Columns by which the rows of a sweep may be sorted. */
const columns = ['trial', 'value', 'started_at', 'duration', 'cost'] as const;

const pattern = new RegExp(`^(${columns.join('|')})(?: (ASC|DESC))?$`, 'i');
const message = `must be one of ${columns.join(', ')}, with ASC or DESC behind it, such as \`value DESC\``;

/** An order of a sweep's rows. */
export interface TrialOrder {
  column: (typeof columns)[number];
  isDescending: boolean;
  /** Position of a row in this order, as a text. */
  keyOf(trial: Trial): string;
}

/** Query parameter that sorts the rows of a sweep. */
export const trialOrder = z
  .string()
  .regex(pattern, message)
  .describe(`Order, such as \`value DESC\`: ${columns.join(', ')}. Rows without a value come last.`);

/** Return the order that the parameter names. */
export function readOrder(text: string): TrialOrder {
  const [, name = 'trial', direction = 'ASC'] = pattern.exec(text) ?? [];
  const column = columns.find((one) => one === name.toLowerCase()) ?? 'trial';
  const isDescending = direction.toUpperCase() === 'DESC';
  return { column, isDescending, keyOf: (trial) => JSON.stringify(positionOf(trial, column)) };
}

type Position = readonly [value: number | string | null, trial: number, repeat: number];

const positionOf = (trial: Trial, column: TrialOrder['column']): Position => [
  trial[column],
  trial.trial,
  trial.repeat,
];

/** Return a comparison of rows. Rows without a value come last in both directions. */
export const compareTrials =
  ({ column, isDescending }: TrialOrder) =>
  (one: Trial, other: Trial): number =>
    compare(positionOf(one, column), positionOf(other, column), isDescending);

function compare(position: Position, other: Position, isDescending: boolean): number {
  const [left, right] = [position[0], other[0]];
  if (left !== right) {
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right === isDescending ? 1 : -1;
  }
  return position[1] - other[1] || position[2] - other[2];
}

/** Return the page of sorted rows after a position. */
export function trialsAfter(
  sorted: readonly Trial[],
  { column, isDescending }: TrialOrder,
  { limit, after }: { limit: number; after: string | undefined },
): Page<Trial> {
  const from: Position | undefined = after === undefined ? undefined : JSON.parse(after);
  const rest =
    from === undefined
      ? sorted
      : sorted.filter((trial) => compare(positionOf(trial, column), from, isDescending) > 0);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const next = rest.length > limit && last ? JSON.stringify(positionOf(last, column)) : undefined;
  return { items, next };
}
