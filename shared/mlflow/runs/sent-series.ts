import * as z from 'zod';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { double, exactStep, isPlainName, latest, milliseconds, trackedName } from '../protocol/scalars.ts';

/** Maximum points of all series in a request. With 60 bytes for each, a body has 0.6 MB. */
const maxSeriesPoints = 10_000;

const column = z.custom<readonly unknown[]>(Array.isArray, 'must be a list');

const Series = z.object({
  key: z.string().refine(isPlainName).or(trackedName),
  steps: column,
  timestamps: column,
  values: column,
});

const Point = z.object({ steps: exactStep, timestamps: milliseconds, values: double });

/**
 * Points as columns, `[{"key", "steps", "timestamps", "values"}]`, which MLflow's API does not have: a request takes ten times
 * as many points, and repeats no names. The schema of a point is only for those that are no plain numbers, since it takes
 * most of the time of a request.
 */
export const sentSeries = z
  .array(Series)
  .default([])
  .transform((series, context): MetricPoint[] => {
    const points: MetricPoint[] = [];
    const refuse = (message: string, ...path: PropertyKey[]) =>
      context.addIssue({ code: 'custom', message, path });
    for (const [index, { key: name, steps, timestamps, values }] of series.entries()) {
      if (steps.length !== values.length || timestamps.length !== values.length)
        refuse('steps, timestamps and values must have the same length', index, 'values');
      else if (points.length + values.length > maxSeriesPoints) {
        refuse(`exceeds ${maxSeriesPoints} points in one request`, index, 'values');
        break;
      } else
        for (const [at, value] of values.entries()) {
          const [step, time] = [steps[at], timestamps[at]];
          if (isNumber(value) && isWhole(step) && isWhole(time) && time >= 0 && time <= latest) {
            points.push({ name, value, step, time });
            continue;
          }
          const { data, error } = Point.safeParse({ steps: step, timestamps: time, values: value });
          if (data !== undefined)
            points.push({ name, value: data.values, step: data.steps, time: data.timestamps });
          for (const { path, message } of error?.issues ?? []) refuse(message, index, ...path, at);
          if (error !== undefined) return z.NEVER;
        }
    }
    return points;
  });

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);
