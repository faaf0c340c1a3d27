import * as z from 'zod';
import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { findContinuation } from '../../../shared/data/experiments/continuation.ts';
import { requireExperimentToRemove } from '../../../shared/data/experiments/experiment.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { purgeInRequest } from '../../../shared/purge/purge-in-request.ts';
import { removeOneExperiment } from '../../../shared/purge/remove-experiment.ts';

/** @throws ServiceError `conflict` while another experiment starts from its checkpoints */
async function requireUncontinued(records: TableReader<'records'>, experiment_id: string): Promise<void> {
  const continuation = await findContinuation(records, experiment_id);
  if (continuation === undefined) return;
  throw new ServiceError(
    'conflict',
    `Experiment ${continuation} starts from the checkpoints of this experiment. Delete this experiment after that one has ended.`,
  );
}

export const endpoint = defineEndpoint({
  name: 'deleteExperiment',
  method: 'DELETE',
  path: '/projects/{project_id}/experiments/{experiment_id}',
  summary: 'Delete an experiment that has ended, with its log, metrics and artifacts',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, objects: writeProjectObjects },
  input: { path: experimentPath },
  work: 'later: a purge',
  output: {
    200: z.object({
      experiment_id: Ulid,
      deleted: z.object({ objects: z.number().int(), bytes: z.number().int() }),
    }),
  },
  problems: ['conflict', 'precondition-failed'],

  async handle({ path: { project_id, experiment_id } }, context) {
    const { records } = context;
    // Others may have changed it since the read: an experiment that continues it, or a report that shows it.
    const { purge, removed } = await retryOnConflict(async () => {
      const { experiment, hasEnded, removable } = await requireExperimentToRemove(
        records,
        project_id,
        experiment_id,
      );
      requirePrecondition(context, experiment.version);
      if (!hasEnded) {
        throw new ServiceError(
          'conflict',
          experiment.kind === 'logged'
            ? `The experiment is ${experiment.status}. Set its final status with PATCH before you delete it.`
            : `The experiment is ${experiment.status}. Cancel it before you delete it.`,
        );
      }
      await requireUncontinued(records, experiment_id);
      return removeOneExperiment(context, experiment, removable);
    });
    await purgeInRequest(context, purge);
    return { experiment_id, deleted: removed };
  },
});
