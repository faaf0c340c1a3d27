import type { AnswerOf, RequestOf } from '../../../../shared/client/route.ts';
import type { endpoint as readSweep } from '../../../projects/sweeps/read-sweep.endpoint.ts';
import type { endpoint as updateSweep } from '../../../projects/sweeps/update-sweep.endpoint.ts';

type Sweep = AnswerOf<typeof readSweep>;
type SweepChange = NonNullable<RequestOf<typeof updateSweep>['body']>;

/** Fields of an extension as they are typed. */
export type Extension = Readonly<Record<'name' | 'trials' | 'parallel' | 'budget', string>>;

/** Bounds of a parameter as they are typed. */
export interface Bounds {
  min: string;
  max: string;
}

/** Return the parameters of a sweep that have bounds. */
export const rangesOf = ({ parameters }: Pick<Sweep, 'parameters'>) =>
  Object.entries(parameters).flatMap(([name, parameter]) =>
    typeof parameter === 'object' && parameter !== null && 'min' in parameter && 'max' in parameter
      ? [{ ...parameter, name }]
      : [],
  );

/**
 * Return the fields that differ from the sweep's, as they were typed: the service checks them, so that its faults are
 * told in one place.
 */
export function changeOf(
  sweep: Pick<Sweep, 'name' | 'trials' | 'parallel' | 'budget' | 'parameters'>,
  { name, trials, parallel, budget }: Extension,
  bounds: Readonly<Record<string, Bounds>>,
): SweepChange {
  const wider: Record<string, unknown> = {};
  for (const { name: one, ...parameter } of rangesOf(sweep)) {
    const { min, max } = bounds[one] ?? { min: String(parameter.min), max: String(parameter.max) };
    const typed = { min: numberOr(min), max: numberOr(max) };
    if (typed.min !== parameter.min || typed.max !== parameter.max) wider[one] = { ...parameter, ...typed };
  }
  const money = budget.trim() === '' ? null : numberOr(budget);
  const change = {
    ...(name.trim() !== sweep.name && { name: name.trim() }),
    ...(numberOr(trials) !== sweep.trials && { trials: numberOr(trials) }),
    ...(numberOr(parallel) !== sweep.parallel && { parallel: numberOr(parallel) }),
    ...(money !== sweep.budget && { budget: money }),
    ...(Object.keys(wider).length > 0 && { parameters: wider }),
  };
  return change as SweepChange;
}

const numberOr = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
