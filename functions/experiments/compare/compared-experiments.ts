import { notFound } from '../../../shared/core/service-error.ts';
import {
  type Experiment,
  experimentKey,
  parseExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import {
  nothingTracked,
  readTrackingOfEach,
  type Tracking,
} from '../../../shared/data/experiments/tracking.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** An experiment with what is tracked of it. */
export interface FoundRecords {
  experiment: Experiment;
  tracking: Tracking;
}

/**
 * These experiments of a project, in their order, with two reads.
 * @throws ServiceError `not-found` for one that there is not; UnreadableRecordError
 */
export async function readCompared(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<FoundRecords[]> {
  const pairs = experiment_ids.map((experiment_id) => ({ project_id, experiment_id }));
  const [items, tracked] = await Promise.all([
    records.batchGet(experiment_ids.map((id) => experimentKey(project_id, id))),
    readTrackingOfEach(records, pairs),
  ]);
  for (const error of tracked.unreadable) throw error;
  return experiment_ids.map((experiment_id, index) => {
    const item = items[index];
    if (item === undefined) throw notFound('experiment', experiment_id);
    return { experiment: parseExperiment(item), tracking: tracked.of.get(experiment_id) ?? nothingTracked };
  });
}
