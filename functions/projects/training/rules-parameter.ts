import * as z from 'zod';
import { RunRules } from '../../../shared/data/rules/run-rules.ts';

/** Query parameter with the rules of a training, as a JSON list. */
export const rulesParameter = {
  rules: z
    .string()
    .transform((text, context) => {
      const given = jsonOf(text);
      const parsed = RunRules.safeParse(given);
      if (parsed.success) return parsed.data;
      const faults = given === undefined ? ['must be JSON'] : parsed.error.issues.map(faultText);
      context.addIssue({ code: 'custom', message: `${faults.join('; ')}. ${example}` });
      return z.NEVER;
    })
    .optional()
    .describe(
      'Rules that stop the run or tell the hooks, besides those of the project, as a JSON list, such as `[{"nan":"loss","do":"stop"},{"silent":"30m","do":"notify"}]`. Conditions: `nan`, `above`, `below`, `no improvement`, `silent`, `idle`.',
    ),
};

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `0.above.value must be a number`. A query parameter has one message for all its faults. */
const faultText = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.map(String).join('.')} ${message}`;

const example = 'Example: [{"nan":"loss","do":"stop"}]';
