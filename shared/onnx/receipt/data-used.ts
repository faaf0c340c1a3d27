import * as z from 'zod';

const count = z.int().nonnegative();

/** Sources of the data that a model is run on. */
export const dataSources = ['evaluation', 'calibration', 'synthetic'] as const;

/** Where the numbers come from that a model was run on. */
export const DataUsed = z.object({
  source: z.enum(dataSources),
  samples: count,
  /** Dimensions that were fed, by input. */
  shapes: z.record(z.string(), z.array(count)),
});
export type DataUsed = z.output<typeof DataUsed>;
