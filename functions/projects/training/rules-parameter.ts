import * as z from 'zod';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { RunRules } from '../../../shared/data/projects/run-rules.ts';
import { ruleFaults } from '../../../shared/run-rules/parse-rule.ts';

/** Query parameter with the rules of a training, as a JSON list. */
export const rulesParameter = {
  rules: z
    .string()
    .transform((text, context) => {
      const given = tryParseJson(text);
      const parsed = RunRules.safeParse(given);
      if (parsed.success) return parsed.data;
      const faults = given === undefined ? 'must be JSON' : ruleFaults(parsed.error.issues);
      // A query parameter has one message for all its faults.
      context.addIssue({ code: 'custom', message: `${faults}. ${example}` });
      return z.NEVER;
    })
    .optional()
    .describe(
      'Rules that stop the run or tell the hooks, besides those of the project, as a JSON list, such as `[{"nan":"loss","do":"stop"},{"silent":"30m","do":"notify"}]`. Conditions: `nan`, `above`, `below`, `no improvement`, `silent`, `idle`.',
    ),
};

const example = 'Example: [{"nan":"loss","do":"stop"}]';
