import * as z from 'zod';
import { isoTime } from '../../core/formats.ts';
import { findFields } from '../../data/experiments/tracking.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import type { ChangeFields } from '../../experiments/change-fields.ts';
import { type ClientStatus, changedStatus } from '../../experiments/changed-status.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { isOwnRun } from '../protocol/context.ts';
import { runKeyOf } from '../protocol/ids.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { route } from '../protocol/route.ts';
import { milliseconds, text } from '../protocol/scalars.ts';
import { changeRunFields, readFieldsAhead, withTags } from './change-run.ts';
import { requireActive, requireRun, sourceOf } from './find-run.ts';
import { runIdField } from './run-id-field.ts';
import { runNameTag, showInfo } from './show-run.ts';

/** MLflow's statuses, and by what number Protocol Buffers know them. */
const statuses = {
  RUNNING: 'RUNNING',
  SCHEDULED: 'CREATED',
  FINISHED: 'SUCCEEDED',
  FAILED: 'FAILED',
  KILLED: 'CANCELLED',
} as const satisfies Record<string, ClientStatus>;
const names = ['RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED'] as const;
const status = z.union(
  [
    z.enum(names),
    z
      .number()
      .int()
      .min(1)
      .max(names.length)
      .transform((number) => names[number - 1] ?? 'RUNNING'),
  ],
  { error: `must be one of ${names.join(', ')}` },
);

export const updateRun = route(
  'POST mlflow/runs/update',
  z.object({
    ...runIdField,
    status: status.optional(),
    end_time: milliseconds.optional(),
    run_name: text.optional(),
  }),
  async (input, context) => {
    const { records, now } = context;
    const read = readFieldsAhead(context, runKeyOf(input.run_id));
    const run = await requireRun(context, input.run_id, 'developer');
    const change: ChangeFields = async (present, found) => {
      requireActive(present, found);
      const renamed =
        input.run_name === undefined || input.run_name === ''
          ? present
          : requireRoom(withTags(present, [{ key: runNameTag, value: input.run_name }]), 'run_name');
      // The status of a job's own run is that of the job: clients begin and end it all the same.
      if ((input.status === undefined && input.end_time === undefined) || isOwnRun(context, found))
        return { fields: renamed };
      if (found.kind !== 'logged')
        throw mlflowError('INVALID_PARAMETER_VALUE', 'The status of a training is that of its job.');
      const wanted = input.status === undefined ? undefined : statuses[input.status];
      const change = wanted === undefined ? {} : changedStatus(found, wanted, now());
      const stopped_at = input.end_time === undefined ? {} : { stopped_at: isoTime(input.end_time) };
      return {
        fields: renamed,
        set: { ...change.set, ...(wanted === undefined || isFinal(wanted) ? stopped_at : {}) },
      };
    };
    const experiment = await changeRunFields(context, run.experiment, change, read);
    const fields = await findFields(records, experiment.project_id, experiment.experiment_id);
    return { run_info: showInfo(sourceOf({ ...run, experiment }, { fields, metrics: new Map() })) };
  },
);
