import * as z from 'zod';
import { markNew } from '../../../shared/data/catalogue-mark.ts';
import { defaultName } from '../../../shared/data/default-name.ts';
import { type Experiment, emptyExperiment, putExperiment } from '../../../shared/data/experiment.ts';
import { foldNowAndThen } from '../../../shared/data/fold-catalogue.ts';
import { rankOf } from '../../../shared/data/job-status.ts';
import { newJob } from '../../../shared/data/new-job.ts';
import { count, projectExists } from '../../../shared/data/project.ts';
import { type ExperimentFields, putFields } from '../../../shared/data/tracking.ts';
import { ConditionFailedError } from '../../../shared/data/write-label.ts';
import { criterionOf } from '../../experiments/criteria.ts';
import { experimentNumber } from '../../experiments/experiment-number.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { requireExperimentProject } from '../experiments/find-project.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { namedValue } from '../protocol/name-rules.ts';
import { route } from '../protocol/route.ts';
import { isoTime, milliseconds, text } from '../protocol/scalars.ts';
import { withTags } from './change-run.ts';
import { sourceOf } from './find-run.ts';
import { runNameTag, showRun, userTag } from './show-run.ts';

/** What a job has and a run of a client does not. */
const noJob = { vcpus: 0, memory: 0, gpus: 0, nodes: 1, timeout: 0, limit_share: null, limits: null };

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
    const project = await requireExperimentProject(context, input.experiment_id || '0', 'developer');
    const { project_id } = project;
    if (project.deleted_at !== undefined)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `The experiment ${project_id} must be in the 'active' state. Current state is deleted.`,
      );
    const named = input.tags.find(({ key }) => key === runNameTag)?.value ?? '';
    if (named !== '' && input.run_name !== '' && named !== input.run_name)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `Both 'run_name' argument and 'mlflow.runName' tag are specified, but with different values (run_name='${input.run_name}', mlflow.runName='${named}').`,
      );
    const created_at = now().toISOString();
    const name = input.run_name || named || defaultName(null, await experimentNumber(records, project_id));
    const empty: ExperimentFields = {
      name,
      note: null,
      tags: input.user_id === '' ? {} : { [userTag]: input.user_id },
      params: {},
      git: null,
      updated_at: created_at,
      version: 1,
    };
    const tags = [...input.tags.filter(({ key }) => key !== runNameTag), { key: runNameTag, value: name }];
    const fields = requireRoom(withTags(empty, tags), 'tags');
    const experiment: Experiment = {
      ...newJob({ ...noJob, user_id: caller.user_id, created_at }),
      ...emptyExperiment,
      status: 'RUNNING',
      status_rank: rankOf('RUNNING'),
      status_reason: null,
      started_at: input.start_time === undefined ? created_at : isoTime(input.start_time),
      experiment_id: newId(),
      project_id,
      kind: 'logged',
      criterion: criterionOf(project),
    };
    const { experiment_id } = experiment;
    try {
      await records.write(
        projectExists(project_id),
        putExperiment(experiment),
        putFields(project_id, experiment_id, fields, undefined),
        markNew(project_id, experiment_id),
        count(project_id, { experiments: 1 }),
      );
    } catch (error) {
      throw error instanceof ConditionFailedError
        ? doesNotExist(`No Experiment with id=${project_id} exists`)
        : error;
    }
    await foldNowAndThen(records, project_id, experiment_id);
    return { run: showRun(sourceOf({ project, experiment }, { fields, metrics: new Map() }), fields) };
  },
);
