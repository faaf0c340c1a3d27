import { metricGoal } from '../../../../shared/metrics/criteria.ts';
import { type Column, metricColumn } from './columns.ts';
import type { Judge } from './sort-rows.ts';

/**
 * Return the column for comparing a metric: the best value of each run if the goal is known, else the last value.
 */
export function valueColumn(name: string, judge: Judge | undefined): Column {
  const goal = metricGoal(name, judge);
  return metricColumn(name, goal === undefined ? 'last' : goal === 'minimize' ? 'min' : 'max');
}

/** Put a metric's column first, in place of the criterion's column. */
export const withValue = (columns: readonly Column[], value: Column): Column[] => [
  value,
  ...columns.filter(({ id }) => id !== 'best' && id !== value.id),
];

const wordsOf = { last: 'last value', min: 'least first', max: 'greatest first' } as Readonly<
  Record<string, string>
>;

/** Menu to choose the metric to compare: the project's criterion, or any reported metric. */
export const ValueSelect = ({
  names,
  value,
  judge,
  onValue,
}: {
  names: readonly string[];
  /** Chosen metric; undefined for the project's criterion. */
  value: string | undefined;
  judge: Judge | undefined;
  onValue: (value: string | undefined) => void;
}) => (
  <label class="group-by">
    <span class="hidden">Compared by</span>
    <select
      value={value ?? ''}
      onChange={({ currentTarget }) => onValue(currentTarget.value === '' ? undefined : currentTarget.value)}
    >
      <option value="">{judge === undefined ? 'Best' : `Best by ${judge.name}`}</option>
      {[...new Set([...(value === undefined ? [] : [value]), ...names])].map((name) => (
        <option key={name} value={name}>
          By {name}, {wordsOf[valueColumn(name, judge).group ?? '']}
        </option>
      ))}
    </select>
  </label>
);
