import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { metricGoal } from '../../../../shared/metrics/criteria.ts';
import { type Column, metricColumn } from '../runs/columns.ts';
import { inOrder } from '../runs/metric-order.ts';
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

/** After so long, the keyboard rests on a choice. */
const restMilliseconds = 600;

const goalWords = { minimize: 'lowest', maximize: 'highest' } as const;

/** Metric by which the table ranks, with its goal. */
export interface Ranked {
  name: string;
  goal: Judge['goal'];
}

/** Return the choices of a metric: its known goal, or both. */
const choicesOf = (name: string, judge: Judge | undefined): Ranked[] => {
  const goal = metricGoal(name, judge);
  return (goal === undefined ? (['minimize', 'maximize'] as const) : [goal]).map((one) => ({
    name,
    goal: one,
  }));
};
const keyOf = ({ name, goal }: Ranked): string => `${goal} ${name}`;

/**
 * Menu of the metrics that the project really has. For somebody who may change the project it sets the project's
 * criterion, otherwise it sorts for them alone.
 */
export const ValueSelect = ({
  names,
  value,
  judge,
  isForAll,
  onValue,
}: {
  names: readonly string[];
  /** Metric that this user sorts by; undefined for the project's criterion. */
  value: string | undefined;
  judge: Judge | undefined;
  /** Whether the choice is the project's criterion. */
  isForAll: boolean;
  onValue: (value: Ranked | undefined) => void;
}) => {
  const choices = useMemo(() => {
    const others = [...new Set([...(value === undefined ? [] : [value]), ...inOrder(names, judge)])];
    return others
      .flatMap((name) => choicesOf(name, judge))
      .filter((one) => judge === undefined || keyOf(one) !== keyOf(judge));
  }, [names, value, judge?.name, judge?.goal]);
  // Runs may have hundreds of metrics, and each key of the filter draws the tools anew.
  const options = useMemo(
    () =>
      choices.map((choice) => (
        <option key={keyOf(choice)} value={keyOf(choice)}>
          {`${goalWords[choice.goal]} ${choice.name}`}
        </option>
      )),
    [choices],
  );
  const own = value === undefined ? undefined : choices.find(({ name }) => name === value);
  /** Option that the keyboard has focused. Moving the focus selects nothing. */
  const [passed, setPassed] = useState<string>();
  const take = (key: string) => {
    setPassed(undefined);
    onValue(choices.find((choice) => keyOf(choice) === key));
  };
  useEffect(() => {
    if (passed === undefined) return;
    const timer = setTimeout(() => take(passed), restMilliseconds);
    return () => clearTimeout(timer);
  }, [passed]);
  const isByKey = useRef(false);
  return (
    <label class="group-by">
      <span class="hidden">Ranked by</span>
      <select
        value={passed ?? (own === undefined ? '' : keyOf(own))}
        onPointerDown={() => (isByKey.current = false)}
        onKeyDown={() => (isByKey.current = true)}
        onChange={({ currentTarget }) => {
          if (isByKey.current) setPassed(currentTarget.value);
          else take(currentTarget.value);
        }}
        onBlur={() => passed !== undefined && take(passed)}
      >
        <option value="">
          {judge === undefined ? 'Best' : `Best: ${goalWords[judge.goal]} ${judge.name}`}
        </option>
        <optgroup label={isForAll ? 'Rank the project by' : 'Sort by'}>{options}</optgroup>
      </select>
    </label>
  );
};
