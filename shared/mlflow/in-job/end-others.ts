import { errorName } from '../../core/error-text.ts';
import type { FinalStatus } from '../../data/jobs/job-status.ts';
import { changeFields } from '../../experiments/change-fields.ts';
import { changedStatus } from '../../experiments/changed-status.ts';
import type { JobContext } from './job-routes.ts';

/**
 * End the runs that the program of a job began beside its own and did not end, because nothing else will. Never throws:
 * one that cannot be ended stays as it is.
 */
export async function endOthers(
  { records, now, log }: JobContext,
  project_id: string,
  others: ReadonlySet<string>,
  status: FinalStatus,
): Promise<void> {
  for (const experiment_id of others) {
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
