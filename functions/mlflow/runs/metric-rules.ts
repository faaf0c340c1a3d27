import * as z from 'zod';
import type { MetricPoint } from '../../../shared/data/job-metrics.ts';
import { trackedName } from '../protocol/name-rules.ts';
import { double, int64, isoTime, milliseconds } from '../protocol/scalars.ts';

/** A point as clients send it. */
export const sentMetric = z.object({
  key: trackedName,
  value: double,
  timestamp: milliseconds,
  step: int64.default(0),
});

export const pointOf = ({ key, value, timestamp, step }: z.output<typeof sentMetric>): MetricPoint => ({
  name: key,
  value,
  step,
  time: isoTime(timestamp),
});
