import { controlBatch } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { changedSchedule, requireSchedule } from '../../../shared/data/schedules/schedule.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { readAgain, retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerAdmitted } from '../../../shared/jobs/admission.ts';
import { changeWrites, recordRun } from '../../../shared/schedules/advance-schedule.ts';
import { withEnd } from '../../../shared/schedules/schedule-state.ts';
import { creatingExperiment, experimentAnswers } from '../../../shared/training/record-experiment.ts';
import { schedulePath } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'runSchedule',
  method: 'POST',
  path: '/projects/{project_id}/schedules/{schedule_id}/run',
  summary: 'Begin a run of a schedule now',
  description:
    'The experiment counts for the caller, and its next time stays as it is. A paused schedule can be run, too. 409 while a run of it has not ended.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  needs: { records: writeRecords, accounts: readUsers, batch: controlBatch, keys: readVariablesKey },
  input: { path: schedulePath },
  output: { 200: ExperimentAnswer },
  problems: ['conflict'],
  etag: true,
  idempotent: creatingExperiment,

  async handle({ path }, context) {
    const { records } = context;
    const timeless = { ...context, timers: undefined };
    const begin = async () => {
      const before = await requireSchedule(records, path);
      const next = await withEnd(records, before);
      if (next !== before) {
        await records.write(...(await changeWrites(timeless, before, next)).writes);
        return readAgain;
      }
      if (next.running !== null)
        throw new ServiceError(
          'conflict',
          `Its run ${next.running} has not ended. Wait for it, or cancel it.`,
        );
      const { admitted } = await recordRun(timeless, before, before, undefined);
      return admitted;
    };
    const admitted = await retryOnConflict(begin, {
      isConflict: (error) => changedSchedule.failedIn(error),
    });
    return answerAdmitted(admitted, experimentAnswers(context), context);
  },
});
