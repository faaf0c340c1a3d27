import * as z from 'zod';
import { nearestName } from '../../core/nearest-name.ts';
import { ExactNumber, ExactScalar } from '../../data/projects/exact-number.ts';
import { isLattice, latticeSize } from '../sampling/lattice.ts';
import type { Params } from '../types.ts';

/** Most values that a parameter lists. */
export const maxValues = 1000;

const named = (names: string) => ({ error: `is not known here; allowed are ${names}` });

/** A parameter of a sweep: listed values, one value, or a range. {@link faultsOfParameter} has the rules. */
export const SweepParameter = z
  .strictObject(
    {
      values: z
        .array(ExactScalar)
        .min(1, 'must hold at least one value')
        .max(maxValues, `must hold at most ${maxValues} values`)
        .optional()
        .describe('Values to choose from.'),
      value: ExactScalar.optional().describe('One value for all trials.'),
      min: ExactNumber.optional().describe('Smallest value.'),
      max: ExactNumber.optional().describe('Largest value.'),
      step: z
        .number('must be a number')
        .positive('must be above 0')
        .optional()
        .describe(
          'Distance of neighbouring values, from `min` on: `1` for whole numbers. Without it any number.',
        ),
      scale: z
        .enum(['linear', 'log'], 'must be linear or log')
        .optional()
        .describe('`log` tries each order of magnitude as often as the others. Default: `linear`.'),
      if: z
        .record(
          z.string(),
          z.union([
            ExactScalar,
            z
              .array(ExactScalar)
              .min(1, 'must hold at least one value')
              .max(maxValues, `must hold at most ${maxValues} values`),
          ]),
        )
        .optional()
        .describe(
          'Other parameters and their values with which this one is set, such as `{optimizer: sgd}`.',
        ),
    },
    named('values, value, min, max, step, scale, if'),
  )
  .describe('`values`, `value`, or `min` and `max`.');
export type SweepParameter = z.infer<typeof SweepParameter>;

/** Parameters by name: a path of the configuration, or a flag of the command. */
export type Parameters = Readonly<Record<string, SweepParameter>>;

/** A fault of a specification: the dotted name of the faulty field, and what is allowed. */
export interface SpecFault {
  name: string;
  message: string;
}

/** Return the faults of one parameter, without those of its condition. */
export function faultsOfParameter(name: string, parameter: SweepParameter): SpecFault[] {
  const { values, value, min, max, step, scale } = parameter;
  const faults: SpecFault[] = [];
  const fault = (field: string, message: string) =>
    faults.push({ name: `parameters.${name}${field === '' ? '' : `.${field}`}`, message });
  const isRange = min !== undefined || max !== undefined;
  const kinds = [values !== undefined, value !== undefined, isRange].filter(Boolean).length;
  if (kinds !== 1) {
    fault('', 'must have one of values, value, or min and max');
    return faults;
  }
  if (!isRange) {
    if (step !== undefined) fault('step', 'needs min and max');
    if (scale !== undefined) fault('scale', 'needs min and max');
    const twice =
      new Set(values).size === values?.length
        ? undefined
        : values?.find((one, at) => values.indexOf(one) !== at);
    if (twice !== undefined) fault('values', `must hold ${JSON.stringify(twice)} once`);
    return faults;
  }
  if (min === undefined) fault('min', 'is required with max');
  if (max === undefined) fault('max', 'is required with min');
  if (scale === 'log' && min !== undefined && min <= 0) fault('min', 'must be above 0 on a log scale');
  if (min === undefined || max === undefined) return faults;
  if (max <= min) fault('max', `must be above min, ${min}; a single value is written as value`);
  else if (!Number.isFinite(max - min)) fault('max', 'makes a range that is too wide for a number');
  else if (step !== undefined && step > max - min)
    fault('step', `must be at most max - min, ${Number((max - min).toPrecision(12))}`);
  else if (step !== undefined && latticeSize({ min, max, step }) > Number.MAX_SAFE_INTEGER)
    fault('step', 'is too small for the range');
  return faults;
}

/** Return the fault of a value that a parameter cannot take; undefined if it can. */
export function faultOfValue(parameter: SweepParameter, value: Params[string]): string | undefined {
  const { values, value: only, min, max, step } = parameter;
  const listed = values ?? (only === undefined ? undefined : [only]);
  if (listed !== undefined) {
    if (listed.includes(value)) return undefined;
    return listed.length === 1
      ? `must be ${String(listed[0])}`
      : `must be one of ${listed.slice(0, 20).map(String).join(', ')}${listed.length > 20 ? ' …' : ''}`;
  }
  if (min === undefined || max === undefined) return undefined;
  if (typeof value !== 'number' || value < min || value > max)
    return `must be a number from ${min} to ${max}`;
  return step === undefined || isLattice({ min, max, step }, value)
    ? undefined
    : `must be ${min} plus a multiple of ${step}`;
}

/** Suggest the nearest of some names; without a near one, list the first twenty. */
export function suggestName(given: string, names: readonly string[]): string {
  const near = nearestName(given, names);
  if (near !== undefined) return `did you mean ${near}?`;
  if (names.length === 0) return 'there are none';
  return `allowed are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' …' : ''}`;
}
