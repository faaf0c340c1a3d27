import * as z from 'zod';

const count = z.int().nonnegative();

/** Sources of the data that a model runs on. */
export const dataSources = ['evaluation', 'calibration', 'synthetic'] as const;

/** The data that a model ran on. */
export const DataUsed = z.object({
  source: z.enum(dataSources),
  samples: count,
  /** Dimensions of the fed values by input. */
  shapes: z.record(z.string(), z.array(count)),
});
export type DataUsed = z.output<typeof DataUsed>;
