import * as z from 'zod';
import { notFound } from '../../shared/core/service-error.ts';
import { markNew } from '../../shared/data/catalogue-mark.ts';
import { defaultName } from '../../shared/data/default-name.ts';
import {
  type Experiment,
  emptyExperiment,
  putExperiment,
  requireExperiment,
} from '../../shared/data/experiment.ts';
import { foldNowAndThen } from '../../shared/data/fold-catalogue.ts';
import { rankOf } from '../../shared/data/job-status.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { newJob } from '../../shared/data/new-job.ts';
import { count, projectExists } from '../../shared/data/project.ts';
import { putFields } from '../../shared/data/tracking.ts';
import { ConditionFailedError } from '../../shared/data/write-label.ts';
import { defineEndpoint, fields } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { answerExperiment } from './answer-experiment.ts';
import { criterionOf } from './criteria.ts';
import { ExperimentAnswer } from './experiment-answer.ts';
import { experimentNumber } from './experiment-number.ts';
import {
  changedTags,
  ExperimentName,
  fieldsBodyMaxBytes,
  GitState,
  Note,
  Params,
  requireRoom,
  Tags,
} from './field-rules.ts';

const Created = z.strictObject({
  name: ExperimentName.optional(),
  note: Note.optional(),
  tags: Tags.optional(),
  params: Params.optional(),
  git: GitState.optional(),
});

/** What a job has and an experiment without one does not. */
const noJob = { vcpus: 0, memory: 0, gpus: 0, nodes: 1, timeout: 0, limit_share: null, limits: null };

export const endpoint = defineEndpoint({
  name: 'createExperiment',
  method: 'POST',
  path: '/projects/{project_id}/experiments',
  summary: 'Record an experiment that runs elsewhere',
  description:
    'For a notebook, a script or another cluster: no job runs for it. It is RUNNING until its client sets another status; its client logs metrics and params.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(Created, fieldsBodyMaxBytes) },
  output: { 200: ExperimentAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: async (experiment_id, context) =>
      answerExperiment(
        context,
        await requireExperiment(context.records, context.project.project_id, experiment_id),
      ),
  },

  async handle({ body }, context) {
    const { records, project, caller, newId, now, idempotencyWrites } = context;
    const { project_id } = project;
    const created_at = now().toISOString();
    const { name, note = null, tags = {}, params = {}, git = null } = body;
    const tracked = requireRoom(
      {
        name: name ?? defaultName(null, await experimentNumber(records, project_id)),
        note,
        tags: changedTags({}, tags),
        params,
        git,
        updated_at: created_at,
        version: 1,
      },
      'params',
    );
    const experiment: Experiment = {
      ...newJob({ ...noJob, user_id: caller.user_id, created_at }),
      ...emptyExperiment,
      status: 'RUNNING',
      status_rank: rankOf('RUNNING'),
      status_reason: null,
      started_at: created_at,
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
        putFields(project_id, experiment_id, tracked, undefined),
        markNew(project_id, experiment_id),
        count(project_id, { experiments: 1 }),
        ...idempotencyWrites(experiment_id),
      );
    } catch (error) {
      throw error instanceof ConditionFailedError ? notFound('project', project_id) : error;
    }
    await foldNowAndThen(records, project_id, experiment_id);
    return answerExperiment(context, experiment);
  },
});

export const handler = lambda(endpoint);
