import {
  compareModelMetrics,
  type LoggedModel,
  type ModelMetric,
} from '../../data/experiments/logged-model.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { changeModel, requireModel } from './logged-model.ts';

/** A value that was measured of a model. */
export interface Measured {
  /** MLflow's id of the model. */
  model_id: string;
  metric: ModelMetric;
}

const identity = ({ name, dataset_name, dataset_digest, run_id }: ModelMetric): string =>
  JSON.stringify([name, dataset_name, dataset_digest, run_id]);

/** The greatest point of each metric, run and data set, by step, time and value. */
function newest(metrics: readonly ModelMetric[]): ModelMetric[] {
  const found = new Map<string, ModelMetric>();
  for (const metric of metrics) {
    const present = found.get(identity(metric));
    if (present === undefined || compareModelMetrics(metric, present) > 0)
      found.set(identity(metric), metric);
  }
  return [...found.values()];
}

/** Note values of models, each in its model. @throws ServiceError where there is none of an id, before anything is noted */
export async function noteModelMetrics(
  context: MlflowContext,
  measured: readonly Measured[],
): Promise<() => Promise<void>> {
  const byModel = Map.groupBy(measured, ({ model_id }) => model_id);
  const models: [LoggedModel, readonly Measured[]][] = [];
  for (const [id, some] of byModel) models.push([await requireModel(context, id, 'developer'), some]);
  return async () => {
    for (const [model, some] of models) {
      await changeModel(context, model, ({ metrics }) => ({
        metrics: newest([...metrics, ...some.map(({ metric }) => metric)]),
      }));
    }
  };
}
