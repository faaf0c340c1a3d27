import * as z from 'zod';
import { StoredNumber } from '../table/stored-number.ts';

/** One value of a metric that was reported. */
export interface MetricPoint {
  name: string;
  value: number;
  step: number | null;
  /** Milliseconds since 1970. Text of it is made where a person reads it: it takes longer than all else of a point. */
  time: number;
}

/** A point as it was stored before there were columns, with its time as ISO 8601. */
export const MetricPointRow = z
  .object({
    name: z.string(),
    value: StoredNumber,
    step: z.number().nullable(),
    time: z.iso.datetime({ precision: 3 }),
  })
  .transform(({ time, ...point }): MetricPoint => ({ ...point, time: Date.parse(time) }));
