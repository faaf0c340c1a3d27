import * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { cancelAll } from '../../../shared/jobs/cancellation.ts';
import { startWaitingInRequest } from '../../../shared/jobs/waiting-queue.ts';

/**
 * Seconds for cancelling, of the 29 that a request has. The last step and the start of waiting jobs may run beyond
 * this limit.
 */
const secondsForCancelling = 18;

export const endpoint = defineEndpoint({
  name: 'cancelExperiments',
  method: 'POST',
  path: '/projects/{project_id}/experiments/cancel',
  summary: 'Cancel all trainings of a project that have not ended',
  description:
    'Waiting trainings end at once, thousands in seconds. A running command gets SIGTERM, and is killed after 20 seconds. Its log, metrics and artifacts are kept. Experiments recorded by clients are not affected. `complete` is false if time ran out; then repeat the request.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  input: { path: projectPath },
  work: 'page: as many as end in the time of a request; `complete` says whether more are left',
  repeatable: true,
  output: {
    200: z.object({
      cancelled: z.number().int().describe('Number of trainings that this request cancelled.'),
      complete: z.boolean().describe('Whether all trainings are cancelled.'),
    }),
  },

  async handle({ path: { project_id } }, { records, batch, keys, settings, caller, now, log }) {
    const hasTime = forSeconds(secondsForCancelling);
    const context = { records, batch, settings, now, by: caller.username, log };
    const answer = await cancelAll(context, project_id, hasTime);
    await startWaitingInRequest({ records, batch, keys, settings, now }, caller, log);
    return answer;
  },
});
