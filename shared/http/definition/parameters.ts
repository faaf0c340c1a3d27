import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { decimalPattern } from '../../core/text/decimal.ts';

/** As many digits as exact integers have. */
const wholePattern = /^[+-]?\d{1,16}$/;

/** A whole number given as text in a query or form. */
export function integer(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z
    .union([z.number(), z.string().regex(wholePattern, message).transform(Number)], { error: message })
    .pipe(z.number().int(message).min(least, message).max(most, message))
    .meta({ type: 'integer', minimum: least, maximum: most });
}

/** A decimal number given as text in a query or form. */
export function decimal(least: number, most: number) {
  const message = `must be a number from ${least} to ${most}`;
  return decimalText(message, z.number(message).min(least, message).max(most, message)).meta({
    type: 'number',
    minimum: least,
    maximum: most,
  });
}

const decimalText = (message: string, rule: z.ZodNumber) =>
  z
    .union([z.number(), z.string().regex(decimalPattern, message).transform(Number)], { error: message })
    .pipe(rule);

/** Smallest distance from a bound. The table stores no number of a much smaller magnitude. */
const leastAbove = 0.000_001;

/** A decimal number above a bound, which is itself refused. */
export function decimalAbove(bound: number, most: number) {
  const message = `must be a number above ${bound}, at most ${most}`;
  return decimalText(
    message,
    z
      .number(message)
      .gt(bound, message)
      .max(most, message)
      .refine(
        (value) => value <= bound || value - bound >= leastAbove,
        `must be at least ${leastAbove} above ${bound}`,
      ),
  ).meta({
    type: 'number',
    exclusiveMinimum: bound,
    maximum: most,
  });
}

/** `true` or `false` given as text in a query or form. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false', 'True', 'False', '1', '0'])], {
    error: 'must be true or false',
  })
  .transform((value) => value === true || value === 'true' || value === 'True' || value === '1')
  .meta({ type: 'boolean' });

export const projectId = Ulid.describe('ID of the project, from the response that created it.');

/** Path parameters of every operation on a project as a whole. */
export const projectPath = z.strictObject({ project_id: projectId });

/** A fault of one of several parameters that are checked together. */
interface CombinedFault {
  name: string;
  message: string;
  /** The allowed values, in a sentence. */
  allowed?: string;
}

/**
 * Parameters with a rule over several of them. The rule runs even if single parameters are wrong, so the caller
 * learns all faults at once; `check` receives a wrong value as it was sent.
 */
export const checkedTogether = <S extends z.ZodObject>(
  schema: S,
  check: (values: Readonly<Record<string, unknown>>) => readonly CombinedFault[],
): S =>
  schema.superRefine(
    (values: Readonly<Record<string, unknown>>, context) => {
      for (const { name, message, allowed } of check(values)) {
        const params = allowed === undefined ? {} : { params: { allowed } };
        context.addIssue({ code: 'custom', path: [name], message, ...params });
      }
    },
    { when: () => true },
  );
