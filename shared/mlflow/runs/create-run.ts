import * as z from 'zod';
import { isoTime, Ulid } from '../../core/formats.ts';
import type { ExperimentFields } from '../../data/experiments/tracking.ts';
import { defaultName } from '../../data/projects/default-name.ts';
import { readAhead } from '../../data/table/table.ts';
import { experimentNumber } from '../../experiments/experiment-number.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { recordLogged } from '../../experiments/record-logged.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { runIdOf } from '../protocol/ids.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { namedValue } from '../protocol/name-rules.ts';
import { route } from '../protocol/route.ts';
import { milliseconds, text } from '../protocol/scalars.ts';
import { withTags } from './change-run.ts';
import { sourceOf } from './find-run.ts';
import { parentTag, runNameTag, showRun, userTag } from './show-run.ts';

export const createRun = route(
  'POST mlflow/runs/create',
  z.object({
    experiment_id: text.default('0'),
    user_id: text.default(''),
    run_name: text.default(''),
    start_time: milliseconds.optional(),
    tags: z.array(namedValue).default([]),
  }),
  async (input, context) => {
    const { records, caller, newId, now } = context;
    const named = input.tags.find(({ key }) => key === runNameTag)?.value ?? '';
    const isNamed = input.run_name !== '' || named !== '';
    const numberAhead =
      !isNamed && Ulid.safeParse(input.experiment_id).success
        ? readAhead(() => experimentNumber(records, input.experiment_id))
        : undefined;
    const project = await requireExperimentProject(context, input.experiment_id || '0', 'developer');
    const { project_id } = project;
    if (project.deleted_at !== undefined)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `The experiment ${project_id} must be in the 'active' state. Current state is deleted.`,
      );
    if (named !== '' && input.run_name !== '' && named !== input.run_name)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different values (run_name='${input.run_name}', mlflow.runName='${named}').`,
      );
    const experiment_id = newId();
    context.job?.begin(experiment_id);
    const created_at = now().toISOString();
    const number = numberAhead ?? (() => experimentNumber(records, project_id));
    const name = input.run_name || named || defaultName(null, await number());
    const empty: ExperimentFields = {
      name,
      note: null,
      tags: {
        ...(input.user_id !== '' && { [userTag]: input.user_id }),
        // A second run of a program belongs to its job, whether the program nests it or not.
        ...(context.job !== undefined && { [parentTag]: runIdOf(context.job.experiment) }),
      },
      params: {},
      git: null,
      updated_at: created_at,
      version: 1,
    };
    const tags = [...input.tags.filter(({ key }) => key !== runNameTag), { key: runNameTag, value: name }];
    const fields = requireRoom(withTags(empty, tags), 'tags');
    const experiment = await recordLogged(records, {
      project,
      experiment_id,
      user_id: caller.user_id,
      fields,
      started_at: input.start_time === undefined ? undefined : isoTime(input.start_time),
      job: context.job?.experiment,
    });
    if (experiment === undefined) throw doesNotExist(`No Experiment with id=${project_id} exists`);
    return { run: showRun(sourceOf({ project, experiment }, { fields, metrics: new Map() }), fields) };
  },
);
