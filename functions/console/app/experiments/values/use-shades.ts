import { useMemo } from 'preact/hooks';
import { metricGoal } from '../../../../../shared/metrics/criteria.ts';
import type { Axis } from '../../charts/values/axis.ts';
import { ranksOf } from '../../charts/values/ranks.ts';
import { place } from '../../ui/router.ts';
import type { Judge } from '../sort-rows.ts';

export interface Shading {
  /** Metrics that colours can show. */
  outcomes: readonly Axis[];
  /** Metric of the colours; undefined for a colour of each experiment. */
  by: Axis | undefined;
  isMinimized: boolean;
  ranks: readonly (number | undefined)[] | undefined;
}

/**
 * Return the metric that colours experiments: the one in the address, or the first of the axes.
 *
 * @param isAlways whether there is a metric even if the address names none
 */
export function useShades(axes: readonly Axis[], judge: Judge | undefined, isAlways: boolean): Shading {
  const outcomes = useMemo(
    () => axes.filter(({ isOutcome, words }) => isOutcome && words.length === 0),
    [axes],
  );
  const wanted = place.value.query.get('colour') ?? (isAlways ? outcomes[0]?.name : undefined);
  const by = outcomes.find(({ name }) => name === wanted);
  const isMinimized = by !== undefined && metricGoal(by.name, judge) === 'minimize';
  const ranks = useMemo(() => by && ranksOf(by.units, isMinimized), [by, isMinimized]);
  return { outcomes, by, isMinimized, ranks };
}
