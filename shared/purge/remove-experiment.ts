import { catalogueMark, markRemoved } from '../data/catalogue-mark.ts';
import type { Condition } from '../data/condition.ts';
import { type Experiment, experimentRemains, removeExperiment } from '../data/experiment.ts';
import { foldCatalogue } from '../data/fold-catalogue.ts';
import { count } from '../data/project.ts';
import { newPurge, type Purge, recordPurge } from '../data/purge.ts';
import { unrank } from '../data/ranking.ts';
import { retryOnConflict } from '../data/retry-on-conflict.ts';
import type { TableWriter, Write } from '../data/table.ts';

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

/** What a delete takes away. */
export interface Removed {
  objects: number;
  bytes: number;
}

/**
 * Take an experiment out of every read, and record the purge of what it leaves.
 * @param removable what must hold of it then
 * @param also further writes of the transaction
 * @throws ConditionFailedError where it does not hold
 */
export async function removeOneExperiment(
  context: Removing,
  experiment: Experiment,
  removable: Condition,
  also: readonly Write[] = [],
): Promise<{ purge: Purge; removed: Removed }> {
  const { records } = context;
  const { project_id, experiment_id } = experiment;
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
