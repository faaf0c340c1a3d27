import * as z from 'zod';
import { isoTime, Timestamp } from '../../../shared/core/formats.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import { JsonNumber, jsonNumber } from '../../../shared/http/body/json-number.ts';

/** A point in the answers of all operations. */
export const PointAnswer = z.object({
  name: z.string(),
  value: JsonNumber,
  step: z.number().nullable(),
  time: Timestamp,
});

export const showPoint = (point: MetricPoint): z.input<typeof PointAnswer> => ({
  ...point,
  value: jsonNumber(point.value),
  time: isoTime(point.time),
});
