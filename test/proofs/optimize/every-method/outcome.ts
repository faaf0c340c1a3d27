import * as z from 'zod';

/** What came of one method on one model. */
export const Outcome = z.object({
  trial: z.string(),
  /** `unrun`: done and written, but ONNX Runtime cannot run the model itself, so that there is nothing to compare. */
  outcome: z.enum(['passed', 'refused', 'unrun', 'failed']),
  /** Why not, in words. */
  reason: z.string(),
  /** Largest relative error of an output; null where nothing was compared. */
  error: z.number().nullable(),
  accuracy: z.object({ before: z.number(), after: z.number() }).nullable(),
  /** Path of the result, to be checked; null where there is none. */
  file: z.string().nullable(),
});
export type Outcome = z.output<typeof Outcome>;

/** A reason without what belongs to one model alone. */
export const reasonKind = (reason: string): string =>
  reason
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/\[[^\]]*\]/g, '[…]')
    .replaceAll(/\b\d+(\.\d+)?\b/g, 'n')
    .slice(0, 160);
