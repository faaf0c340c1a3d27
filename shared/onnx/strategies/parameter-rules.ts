import * as z from 'zod';
import { measures } from './measure.ts';

/** Most entries of a list of nodes or operators. */
const maxNames = 1000;

/** Names of nodes or types of operators. */
export const names = z
  .array(z.string().min(1, 'holds an empty name').max(512, 'holds a name of more than 512 characters'))
  .max(maxNames, `has more than ${maxNames} entries`);

/** A whole number within bounds. */
export function wholeNumber([least, most]: readonly [number, number]): z.ZodInt {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}

/** A choice that a strategy leaves open, or that is settled as false. */
export const choice = (isOpen: boolean, otherwise: boolean, message: string) =>
  isOpen ? z.boolean('must be true or false').default(otherwise) : z.literal(false, message).default(false);

/** Rules of the parameters that every strategy has alike. */
export const commonRules = ({
  exclude,
  max_error,
  seed,
  measure,
}: Record<CommonName, { description: string }>) => ({
  exclude: names.default([]).describe(exclude.description),
  max_error: z
    .number('must be a number')
    .positive('must be above 0')
    .nullable()
    .default(null)
    .describe(max_error.description),
  seed: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(2 ** 32 - 1, `must be at most ${2 ** 32 - 1}`)
    .default(0)
    .describe(seed.description),
  measure: z
    .enum(measures, `must be one of ${measures.join(', ')}`)
    .default('quick')
    .describe(measure.description),
});

type CommonName = 'exclude' | 'max_error' | 'seed' | 'measure';
