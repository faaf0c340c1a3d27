import * as z from 'zod';
import { notFound } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { defaultName } from '../../../shared/data/projects/default-name.ts';
import { RunRules } from '../../../shared/data/projects/run-rules.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { answerExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentNumber } from '../../../shared/experiments/experiment-number.ts';
import {
  changedTags,
  ExperimentName,
  fieldsBodyMaxBytes,
  GitState,
  Note,
  Params,
  requireRoom,
  Tags,
} from '../../../shared/experiments/field-rules.ts';
import { recordLogged } from '../../../shared/experiments/logged-experiment.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fieldsWith } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

const Created = z.strictObject({
  name: ExperimentName.optional(),
  note: Note.optional(),
  tags: Tags.optional(),
  params: Params.optional(),
  git: GitState.optional(),
  rules: RunRules.optional().describe(
    'Rules that stop the run or tell the hooks, besides those of the project, such as `[{"nan": "loss", "do": "stop"}]`.',
  ),
});

export const endpoint = defineEndpoint({
  name: 'createExperiment',
  method: 'POST',
  path: '/projects/{project_id}/experiments',
  summary: 'Record an experiment that runs elsewhere',
  description:
    'For a notebook, a script or another cluster. The service starts no job for it. The client logs metrics and params. The experiment is RUNNING until the client sets another status.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { fields: ['name'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: { path: projectPath, body: fieldsWith(Created, fieldsBodyMaxBytes, 'params') },
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
    const { name, note = null, tags = {}, params = {}, git = null, rules } = body;
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
    const experiment_id = newId();
    const experiment = await recordLogged(records, {
      project,
      experiment_id,
      caller,
      fields: tracked,
      rules,
      writes: idempotencyWrites(experiment_id),
    });
    if (experiment === undefined) throw notFound('project', project_id);
    return answerExperiment(context, experiment);
  },
});
