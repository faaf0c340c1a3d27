import * as z from 'zod';
import { isoTime } from '../../core/formats.ts';
import type { ModelMetric } from '../../data/experiments/logged-model.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { isPlainName, trackedName } from '../protocol/name-rules.ts';
import { double, int64, latest, maxInt64, milliseconds, text } from '../protocol/scalars.ts';

/** A point as clients send it. */
export const sentMetric = z.object({
  key: trackedName,
  value: double,
  timestamp: milliseconds,
  step: int64.default(0),
  /** Model that it was measured of, and data set that it was measured with. */
  model_id: text.optional(),
  dataset_name: text.optional(),
  dataset_digest: text.optional(),
});

export type SentMetric = z.output<typeof sentMetric>;

/** Fields of a point whose values need no conversion. */
const plainFields: ReadonlySet<string> = new Set(['key', 'value', 'timestamp', 'step']);

/**
 * A check for points that are sent as most are: numbers as numbers, without a model. It takes only what the schema
 * takes unchanged.
 */
function plainCheck(): (sent: unknown) => sent is SentMetric {
  const names = new Set<string>();
  const isName = (key: unknown): boolean => {
    if (typeof key !== 'string') return false;
    if (isPlainName(key) || names.has(key)) return true;
    const isTaken = trackedName.safeParse(key).success;
    if (isTaken) names.add(key);
    return isTaken;
  };
  return (sent): sent is SentMetric => {
    if (typeof sent !== 'object' || sent === null) return false;
    let fields = 0;
    for (const field in sent) {
      if (!plainFields.has(field)) return false;
      fields += 1;
    }
    if (fields !== plainFields.size) return false;
    const { key, value, timestamp, step } = sent as Record<string, unknown>;
    return (
      typeof value === 'number' &&
      Number.isFinite(value) &&
      typeof timestamp === 'number' &&
      Number.isInteger(timestamp) &&
      timestamp >= 0 &&
      timestamp <= latest &&
      typeof step === 'number' &&
      Number.isInteger(step) &&
      Math.abs(step) <= maxInt64 &&
      isName(key)
    );
  };
}

/** The points of a batch, each by {@link sentMetric}: through the schema alone a thousand take most of the request. */
export const sentMetrics = (most: number, message: string) =>
  z
    .array(z.unknown())
    .max(most, message)
    .transform((metrics, context): SentMetric[] => {
      const isPlain = plainCheck();
      return metrics.map((sent, index) => {
        if (isPlain(sent)) return sent;
        const parsed = sentMetric.safeParse(sent);
        if (parsed.success) return parsed.data;
        for (const { path, message } of parsed.error.issues)
          context.addIssue({ code: 'custom', message, path: [index, ...path] });
        return z.NEVER;
      });
    });

/** Points as they are stored. */
export const pointsOf = (metrics: readonly SentMetric[]): MetricPoint[] =>
  metrics.map(({ key, value, timestamp, step }) => ({ name: key, value, step, time: timestamp }));

/** The values that were measured of models, with the run that measured them. */
export const measuredOf = (
  metrics: readonly SentMetric[],
  run_id: string,
): { model_id: string; metric: ModelMetric }[] =>
  metrics
    .filter(({ model_id = '' }) => model_id !== '')
    .flatMap((sent) => {
      const { model_id = '', dataset_name = '', dataset_digest = '' } = sent;
      return pointsOf([sent]).map((point) => ({
        model_id,
        metric: {
          ...point,
          time: isoTime(point.time),
          run_id,
          ...(dataset_name !== '' && { dataset_name }),
          ...(dataset_digest !== '' && { dataset_digest }),
        },
      }));
    });
