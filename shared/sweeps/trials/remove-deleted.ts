import { ServiceError } from '../../core/service-error.ts';
import { requireExperimentToRemove } from '../../data/experiments/experiment.ts';
import { newPurge, recordPurge } from '../../data/projects/purge.ts';
import { reportsPartition } from '../../data/sweeps/rung.ts';
import { removeSweep, type Sweep } from '../../data/sweeps/sweep.ts';
import { listRuns, removeRun, runsPartition, sweepPrefix } from '../../data/sweeps/sweep-run.ts';
import { removeTurn, type SweepTurn } from '../../data/sweeps/sweep-turn.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { removeOneExperiment } from '../../purge/remove-experiment.ts';

/**
 * Remove a sweep whose runs have all ended. Remove its experiments first if they go with it, a few in one call; each
 * row goes after its experiments, so a crash in between loses none.
 * @returns whether more is to be removed
 */
export async function removeDeleted(
  context: Removing,
  sweep: Sweep,
  what: 'sweep' | 'experiments',
  turn: SweepTurn,
): Promise<boolean> {
  const { records } = context;
  const { items } = what === 'sweep' ? { items: [] } : await listRuns(records, sweep, { limit: rowsAtOnce });
  for (const row of items) {
    for (const { experiment_id } of row.tries) await removeTry(context, sweep.project_id, experiment_id);
    await records.write(removeRun(sweep, row));
  }
  if (items.length > 0) return true;
  const prefix = sweepPrefix(sweep);
  const target = {
    partitions: [
      { pk: runsPartition(sweep.project_id), prefix },
      { pk: reportsPartition(sweep.project_id), prefix },
    ],
    prefixes: [],
  };
  await records.write(removeSweep(sweep), recordPurge(newPurge(context, target)), removeTurn(turn.turn_id));
  return false;
}

interface Removing {
  records: TableWriter<'records'>;
  newId(): string;
  now(): Date;
}

const rowsAtOnce = 10;

/** Remove an experiment, unless it is gone, another one starts from its checkpoints, or a report shows it. */
async function removeTry(context: Removing, project_id: string, experiment_id: string): Promise<void> {
  try {
    const experiment = await requireExperimentToRemove(context.records, project_id, experiment_id);
    if (experiment.hasEnded) await removeOneExperiment(context, experiment.experiment, experiment.removable);
  } catch (error) {
    const stays = error instanceof ServiceError && (error.kind === 'not-found' || error.kind === 'conflict');
    if (!stays && !(error instanceof ConditionFailedError)) throw error;
  }
}
