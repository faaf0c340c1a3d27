import * as z from 'zod';
import { StoredNumber } from './stored-number.ts';

export const MetricPoint = z.object({
  name: z.string(),
  value: StoredNumber,
  step: z.number().nullable(),
  time: z.iso.datetime({ precision: 3 }),
});
/** One value of a metric that a job reported. */
export type MetricPoint = z.infer<typeof MetricPoint>;
