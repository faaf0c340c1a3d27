import * as z from 'zod';
import { isoTime, Ulid } from '../../core/formats.ts';
import { firstPoints, logPoints } from '../../data/experiments/log-points.ts';
import { type ExperimentFields, findFields } from '../../data/experiments/tracking.ts';
import { isAskedFor } from '../../data/hooks/hook.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import { defaultName } from '../../data/projects/default-name.ts';
import { retain } from '../../data/projects/purge.ts';
import { requireUnreported } from '../../data/projects/report.ts';
import { readAhead } from '../../data/table/table.ts';
import { type ChangeFields, changeFields } from '../../experiments/change-fields.ts';
import { experimentNumber } from '../../experiments/experiment-number.ts';
import { requireRoom } from '../../experiments/field-rules.ts';
import { type ClientStatus, changedStatus, recordLogged } from '../../experiments/logged-experiment.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { isOwnRun, type JobReach, type MlflowContext } from '../protocol/context.ts';
import { runIdOf, runKeyOf } from '../protocol/ids.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, type Route, route } from '../protocol/route.ts';
import { milliseconds, namedValue, text } from '../protocol/scalars.ts';
import { changeRunFields, logFields, newParams, readFieldsAhead, withTags } from './change-run.ts';
import { answerRun, requireActive, requireRun, runIdField, sourceOf } from './find-run.ts';
import { inputRoutes, searchDatasets } from './input-routes.ts';
import { logRoutes } from './log-routes.ts';
import { metricRoutes } from './metric-routes.ts';
import { searchRuns } from './search-runs.ts';
import { sentSeries } from './sent-series.ts';
import { parentTag, runNameTag, showInfo, showRun, userTag } from './show-run.ts';

export const getRun = route('GET mlflow/runs/get', z.object(runIdField), async ({ run_id }, context) => ({
  run: await answerRun(context, run_id),
}));

export const createRun = route(
  'POST mlflow/runs/create',
  z.object({
    experiment_id: text.default('0'),
    user_id: text.default(''),
    run_name: text.default(''),
    start_time: milliseconds.optional(),
    tags: z.array(namedValue).default([]),
    params: z.array(namedValue).default([]),
    series: sentSeries,
  }),
  async (input, context) => {
    const { records, caller, newId, now } = context;
    const named = input.tags.find(({ key }) => key === runNameTag)?.value ?? '';
    const isNamed = input.run_name !== '' || named !== '';
    const isId = Ulid.safeParse(input.experiment_id).success;
    const askedAhead = isId
      ? readAhead(() => isAskedFor(records, input.experiment_id, 'experiment.started'))
      : undefined;
    const numberAhead =
      !isNamed && isId ? readAhead(() => experimentNumber(records, input.experiment_id)) : undefined;
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
    const { job } = context;
    if (job !== undefined && input.params.length + input.series.length > 0)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        'In a job, params and series come after the run has begun.',
      );
    // Clients name the millisecond. Without it, equal requests may begin several runs.
    const request = job === undefined || input.start_time === undefined ? undefined : JSON.stringify(input);
    const repeated = request === undefined ? undefined : job?.runs.repeated(request);
    if (repeated !== undefined)
      return { run: await answerRun(context, runIdOf({ project_id, experiment_id: repeated })) };
    const isChild = input.tags.some(({ key }) => key === parentTag);
    if (job !== undefined && !isChild && job.runs.takeOwn()) {
      const run = await beginOwn(context, job, input);
      if (request !== undefined) job.runs.answered(request, job.experiment.experiment_id);
      return { run };
    }
    const experiment_id = newId();
    context.noteAudit({ subject: { experiment_id } });
    job?.runs.begin(experiment_id);
    const created_at = now().toISOString();
    const number = numberAhead ?? (() => experimentNumber(records, project_id));
    const name = input.run_name || named || defaultName(null, await number());
    const empty: ExperimentFields = {
      name,
      note: null,
      tags: {
        ...(input.user_id !== '' && { [userTag]: input.user_id }),
        // A second run of a program is a child of the job's run, even if the program does not nest it.
        ...(job !== undefined && { [parentTag]: runIdOf(job.experiment) }),
      },
      params: newParams(input.params),
      git: null,
      updated_at: created_at,
      version: 1,
    };
    const tags = [...input.tags.filter(({ key }) => key !== runNameTag), { key: runNameTag, value: name }];
    const fields = requireRoom(withTags(empty, tags), 'tags');
    const first =
      input.series.length === 0
        ? undefined
        : await firstPoints(records, { project_id, experiment_id }, input.series);
    // Rules are judged by the points of a run that exists.
    const isJudged = first !== undefined && (project.rules ?? []).length > 0;
    const experiment = await recordLogged(records, {
      project,
      experiment_id,
      caller,
      fields,
      started_at: input.start_time === undefined ? undefined : isoTime(input.start_time),
      job: job?.experiment,
      isAsked: askedAhead?.(),
      writes: isJudged ? [] : (first?.writes ?? []),
    });
    if (experiment === undefined) throw doesNotExist(`No Experiment with id=${project_id} exists`);
    if (isJudged) await logPoints(records, experiment, input.series, undefined, now);
    if (request !== undefined) job?.runs.answered(request, experiment_id);
    const metrics = first?.metrics ?? new Map();
    return { run: showRun(sourceOf({ project, experiment }, { fields, metrics }), fields) };
  },
);

/** Let the first run of a job's program be the job's own experiment: name and tags of the run are added to it. */
async function beginOwn(
  context: MlflowContext,
  { experiment, runs }: JobReach,
  { user_id, run_name, tags }: { user_id: string; run_name: string; tags: Parameters<typeof withTags>[1] },
): Promise<object> {
  const more = [
    ...(user_id === '' ? [] : [{ key: userTag, value: user_id }]),
    ...tags,
    ...(run_name === '' ? [] : [{ key: runNameTag, value: run_name }]),
  ];
  try {
    await logFields(context, experiment, { tags: more });
  } catch (error) {
    runs.releaseOwn();
    throw error;
  }
  return answerRun(context, runIdOf(experiment));
}

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
    tags: z.array(namedValue).default([]),
  }),
  async (input, context) => {
    const { now } = context;
    let fields: ExperimentFields | undefined;
    const read = readFieldsAhead(context, runKeyOf(input.run_id));
    const run = await requireRun(context, input.run_id, 'developer');
    const change: ChangeFields = async (present, found) => {
      requireActive(present, found);
      const name = input.run_name ? [{ key: runNameTag, value: input.run_name }] : [];
      const tags = [...input.tags, ...name];
      const renamed =
        tags.length === 0
          ? present
          : requireRoom(withTags(present, tags), input.tags.length === 0 ? 'run_name' : 'tags');
      fields = renamed;
      // The status of a job's own run is that of the job. Ignore attempts of clients to begin or end it.
      if ((input.status === undefined && input.end_time === undefined) || isOwnRun(context, found))
        return { fields: renamed };
      if (found.kind !== 'logged')
        throw mlflowError('INVALID_PARAMETER_VALUE', 'The status of a training is that of its job.');
      const outcome = input.status === undefined ? undefined : statuses[input.status];
      const change = outcome === undefined ? {} : changedStatus(found, outcome, now());
      const stopped_at = input.end_time === undefined ? {} : { stopped_at: isoTime(input.end_time) };
      return {
        fields: renamed,
        set: { ...change.set, ...(outcome === undefined || isFinal(outcome) ? stopped_at : {}) },
      };
    };
    const experiment = await changeRunFields(context, run.experiment, change, read);
    return { run_info: showInfo(sourceOf({ ...run, experiment }, { fields, metrics: new Map() })) };
  },
);

/** MLflow's run statuses, in the order of their Protocol Buffers numbers. */
const statuses = {
  RUNNING: 'RUNNING',
  SCHEDULED: 'CREATED',
  FINISHED: 'SUCCEEDED',
  FAILED: 'FAILED',
  KILLED: 'CANCELLED',
} as const satisfies Record<string, ClientStatus>;

/** Mark a run as deleted, or restore it. Repeating it changes nothing, as in MLflow. */
const marking = (path: string, deletes: boolean): Route =>
  route(`POST mlflow/runs/${path}`, z.object(runIdField), async ({ run_id }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    const deleted_at = context.now().toISOString();
    const { project_id, experiment_id } = experiment;
    const fields = await findFields(context.records, project_id, experiment_id);
    if (deletes === (fields?.deleted_at !== undefined)) return {};
    if (deletes) await requireUnreported(context.records, project_id, { experiment });
    if (deletes) await context.records.write(...retain({ project_id, experiment_id, deleted_at }));
    await changeFields(context, experiment, async (present, current) => {
      if (deletes) await requireUnreported(context.records, project_id, { experiment: current });
      const { deleted_at: marked, ...others } = present;
      if (deletes === (marked !== undefined)) return { fields: present };
      return { fields: deletes ? { ...present, deleted_at } : others };
    });
    return {};
  });

export const runRoutes: readonly Route[] = [
  ...allowing('read', [getRun, searchRuns, searchDatasets, ...metricRoutes]),
  ...allowing('record', [createRun, updateRun, ...logRoutes, ...inputRoutes]),
  marking('delete', true),
  marking('restore', false),
];
