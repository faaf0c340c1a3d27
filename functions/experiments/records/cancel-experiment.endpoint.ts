import { controlBatch } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { answerExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { cancelJob } from '../../../shared/jobs/cancellation.ts';
import { startWaitingInRequest } from '../../../shared/jobs/waiting-queue.ts';
import { takeTurnAfterInRequest } from '../../../shared/sweeps/trials/take-turns.ts';

export const endpoint = defineEndpoint({
  name: 'cancelExperiment',
  method: 'POST',
  path: '/projects/{project_id}/experiments/{experiment_id}/cancel',
  summary: 'Cancel a training that has not ended',
  description:
    'A running command gets SIGTERM, and is killed after 20 seconds. Its log, metrics and artifacts are kept.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: writeRecords, accounts: readUsers, batch: controlBatch, keys: readVariablesKey },
  input: { path: experimentPath },
  repeatable: true,
  output: { 200: ExperimentAnswer },
  problems: ['conflict'],
  etag: true,

  async handle({ path }, { records, accounts, batch, keys, settings, caller, now, newId, log }) {
    const found = await requireExperiment(records, path.project_id, path.experiment_id);
    if (found.kind === 'logged') {
      const message = 'This experiment has no job. To end it, set its status with PATCH.';
      throw new ServiceError('conflict', message);
    }
    const cancelled = await cancelJob(records, batch, settings, found, {
      by: caller.username,
      now: now(),
    });
    await startWaitingInRequest({ records, batch, keys, settings, now }, found, log);
    const deciding = { records, batch, keys, settings, now, newId, log };
    if (found.sweep !== undefined) await takeTurnAfterInRequest(deciding, found.experiment_id);
    const experiment = await requireExperiment(records, path.project_id, path.experiment_id);
    if (!cancelled && experiment.status !== 'CANCELLED') {
      throw new ServiceError('conflict', `The experiment has already ended: ${experiment.status}.`);
    }
    return answerExperiment({ records, accounts, settings, now }, experiment);
  },
});
