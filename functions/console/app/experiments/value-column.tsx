import { metricGoal } from '../../../../shared/metrics/criteria.ts';
import { type Column, metricColumn } from './columns.ts';
import type { Judge } from './sort-rows.ts';

/** The values of a metric that are compared: the best of each run where it is known what is best, or the last. */
export function valueColumn(name: string, judge: Judge | undefined): Column {
  const goal = metricGoal(name, judge);
  return metricColumn(name, goal === undefined ? 'last' : goal === 'minimize' ? 'min' : 'max');
}

/** The columns of a table with that of a metric in front, in the place of the one that the project is judged by. */
export const withValue = (columns: readonly Column[], value: Column): Column[] => [
  value,
  ...columns.filter(({ id }) => id !== 'best' && id !== value.id),
];

const wordsOf = { last: 'last value', min: 'least first', max: 'greatest first' } as Readonly<
  Record<string, string>
>;

/** Choose the metric that the runs are compared by: the project's own, or any other that runs have reported. */
export const ValueSelect = ({
  names,
  value,
  judge,
  onValue,
}: {
  names: readonly string[];
  /** Undefined for the project's own. */
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
