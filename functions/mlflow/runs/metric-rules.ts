import * as z from 'zod';
import type { MetricPoint } from '../../../shared/data/job-metrics.ts';
import type { ModelMetric } from '../../../shared/data/logged-model.ts';
import { trackedName } from '../protocol/name-rules.ts';
import { double, int64, isoTime, milliseconds, text } from '../protocol/scalars.ts';

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

export const pointOf = ({ key, value, timestamp, step }: z.output<typeof sentMetric>): MetricPoint => ({
  name: key,
  value,
  step,
  time: isoTime(timestamp),
});

/** The values that were measured of models, with the run that measured them. */
export const measuredOf = (
  metrics: readonly z.output<typeof sentMetric>[],
  run_id: string,
): { model_id: string; metric: ModelMetric }[] =>
  metrics.flatMap((sent) => {
    const { model_id = '', dataset_name = '', dataset_digest = '' } = sent;
    if (model_id === '') return [];
    const metric = {
      ...pointOf(sent),
      run_id,
      ...(dataset_name !== '' && { dataset_name }),
      ...(dataset_digest !== '' && { dataset_digest }),
    };
    return [{ model_id, metric }];
  });
