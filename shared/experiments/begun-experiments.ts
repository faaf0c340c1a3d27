import type { Deadline } from '../core/deadline.ts';
import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import { findExperiment, listExperiments } from '../data/experiments/experiment.ts';
import type { FinalStatus } from '../data/jobs/job-status.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { changeFields } from './change-fields.ts';
import { changedStatus } from './logged-experiment.ts';

/**
 * Return the ids of the experiments that the program of a training recorded in addition to its own, oldest first. All
 * of them are newer than the training, so it reads only the experiments that the project got since.
 */
export async function listBegun(
  records: TableReader<'records'>,
  { project_id, experiment_id }: Training,
): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await listExperiments(records, project_id, { after });
    const newer = page.items.filter((item) => item.experiment_id > experiment_id);
    ids.push(...newer.filter((one) => one.recorded_by === experiment_id).map((one) => one.experiment_id));
    after = newer.length < page.items.length ? undefined : page.next;
  } while (after !== undefined);
  return ids.toReversed();
}

interface Training {
  project_id: string;
  experiment_id: string;
}

/**
 * End the experiments that the program of a training began and did not end. No other code would end them. Never
 * throws: an experiment that cannot be ended keeps its status.
 */
export async function endBegun(
  { records, now, log }: Ending,
  project_id: string,
  begun: Iterable<string>,
  status: FinalStatus,
): Promise<void> {
  for (const experiment_id of begun) {
    try {
      await changeFields({ records, now }, { project_id, experiment_id }, async (fields, found) => {
        const change = found.status === 'RUNNING' ? changedStatus(found, status, now()) : {};
        return { fields, ...change };
      });
    } catch (error) {
      log.warn('run-left-running', { experiment_id, error: errorName(error) });
    }
  }
}

interface Ending {
  records: TableWriter<'records'>;
  now: () => Date;
  log: Logger;
}

/**
 * The same for a training whose container could not do it, because every attempt was lost. Its experiments end as it
 * ended.
 * @returns false if time ran out; a repetition goes on
 */
export async function endBegunByLost(
  context: Ending,
  training: Training,
  hasTime: Deadline,
): Promise<boolean> {
  const { project_id, experiment_id } = training;
  const experiment = await findExperiment(context.records, project_id, experiment_id);
  const status = experiment?.status === 'CANCELLED' ? 'CANCELLED' : 'FAILED';
  for (const id of await listBegun(context.records, training)) {
    if (!hasTime()) return false;
    await endBegun(context, project_id, [id], status);
  }
  return true;
}
