import { catalogueMark, markRemoved } from '../data/experiments/catalogue-mark.ts';
import { type Experiment, experimentRemains, removeExperiment } from '../data/experiments/experiment.ts';
import { foldCatalogue } from '../data/experiments/fold-catalogue.ts';
import { unrank } from '../data/experiments/ranking.ts';
import { count } from '../data/projects/project.ts';
import { newPurge, type Purge, recordPurge } from '../data/projects/purge.ts';
import { requireUnreported } from '../data/projects/report.ts';
import type { Condition } from '../data/table/condition.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table/table.ts';

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/** Amounts that a delete removed. */
export interface Removed {
  objects: number;
  bytes: number;
}

/**
 * Remove an experiment, and record the purge of its leftovers.
 * @param removable condition on the experiment
 * @param also further writes of the transaction
 * @throws ConditionFailedError if the condition fails
 * @throws ServiceError `conflict` if a report shows it
 */
export async function removeOneExperiment(
  context: Removing,
  experiment: Experiment,
  removable: Condition,
  also: readonly Write[] = [],
): Promise<{ purge: Purge; removed: Removed }> {
  const { records } = context;
  const { project_id, experiment_id } = experiment;
  await requireUnreported(records, project_id, { experiment });
  const removed = {
    objects: experiment.artifacts + experiment.checkpoints,
    bytes: experiment.artifact_bytes + experiment.checkpoint_bytes,
  };
  const purge = newPurge(context, experimentRemains(project_id, experiment_id));
  let isInSegment = false;
  const write = async (): Promise<void> => {
    const mark = await markRemoved(records, project_id, experiment_id);
    isInSegment = mark.remains;
    await records.write(
      removeExperiment(experiment, removable),
      mark.write,
      count(project_id, { experiments: -1, objects: -removed.objects, bytes: -removed.bytes }),
      ...unrank(experiment),
      recordPurge(purge),
      ...also,
    );
  };
  await retryOnConflict(write, { isConflict: (error) => error.isOnly(catalogueMark) });
  if (isInSegment) await foldCatalogue(records, project_id, { milliseconds: 0, least: 1 });
  return { purge, removed };
}
