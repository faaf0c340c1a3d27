import * as z from 'zod';
import { isoTime, Timestamp } from '../core/formats.ts';
import type { MetricSummary } from '../data/metrics/metric-summary.ts';
import { JsonNumber, jsonNumber } from '../http/body/json-number.ts';

/** A metric of an experiment in short. */
export const MetricSummaryAnswer = z
  .object({
    last: JsonNumber.describe('Value at the greatest step; of several there at the latest time.'),
    min: JsonNumber,
    max: JsonNumber,
    step: z.number().nullable().describe('Of the last value.'),
    time: Timestamp.describe('Of the last value.'),
    count: z.number().int().describe('Points.'),
  })
  .meta({ id: 'MetricSummary' });

export const showSummary = ({
  last,
  min,
  max,
  step,
  time,
  count,
}: MetricSummary): z.input<typeof MetricSummaryAnswer> => ({
  last: jsonNumber(last),
  min: jsonNumber(min),
  max: jsonNumber(max),
  step,
  time: isoTime(time),
  count,
});
