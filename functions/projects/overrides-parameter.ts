import * as z from 'zod';

const most = 100;
const longestPath = 500;
const message = 'must be a JSON object of paths and single values, such as {"optimizer.lr":0.003}';

const Scalar = z.union([z.string().max(4000), z.number(), z.boolean(), z.null()]);
const Values = z
  .record(z.string().min(1).max(longestPath), Scalar)
  .refine((values) => Object.keys(values).length > 0 && Object.keys(values).length <= most);

/** Values of a configuration to replace, as a JSON object. */
export const overridesParameter = z
  .string()
  .transform((text, context) => {
    try {
      const parsed = Values.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // Reported below, as any other text that is no such object.
    }
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .optional();
