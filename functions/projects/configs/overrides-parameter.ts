import * as z from 'zod';
import { Overrides } from '../../../shared/data/rules/training.ts';

const message = 'must be a JSON object of paths and single values, such as {"optimizer.lr":0.003}';

/** Values of a configuration to replace, as a JSON object. */
export const overridesParameter = z
  .string()
  .transform((text, context) => {
    try {
      const parsed = Overrides.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // Reported below, as any other text that is no such object.
    }
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .optional();
