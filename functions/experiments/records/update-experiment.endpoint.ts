import * as z from 'zod';
import { badRequest } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { answerExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import {
  changedTags,
  ExperimentName,
  fieldsBodyMaxBytes,
  Note,
  requireRoom,
  Tags,
} from '../../../shared/experiments/field-rules.ts';
import { changedStatus, endings } from '../../../shared/experiments/logged-experiment.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';

const Change = z
  .strictObject({
    name: ExperimentName.optional(),
    note: Note.optional(),
    tags: Tags.optional(),
    status: z
      .enum(['RUNNING', ...endings])
      .optional()
      .describe('Status of an experiment that runs elsewhere: its outcome, or `RUNNING` to resume it.'),
  })
  .meta({ minProperties: 1 });

export const endpoint = defineEndpoint({
  name: 'updateExperiment',
  method: 'PATCH',
  path: '/projects/{project_id}/experiments/{experiment_id}',
  summary: 'Change the name, note, tags or status of an experiment',
  description:
    'Changes the given fields, at least one, and no others. Ended experiments can be changed too. Clients set the status of experiments that run elsewhere; jobs set the status of trainings. Note, tags and params take at most 300,000 bytes together.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { fields: ['name', 'status'] },
  needs: { records: writeRecords, accounts: readUsers },
  input: { path: experimentPath, body: fields(Change, fieldsBodyMaxBytes) },
  output: { 200: ExperimentAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path, body }, context) {
    const { name, note, tags, status } = body;
    if (Object.keys(body).length === 0) {
      const message = `must have at least one of ${Object.keys(Change.shape).join(', ')}`;
      throw badRequest([{ in: 'body', name: 'body', message }]);
    }
    const experiment = await changeFields(context, path, async (present, found) => {
      requirePrecondition(context, found.version);
      context.noteAudit({ before: { name: present.name, status: found.status } });
      const changed = {
        ...present,
        ...(name !== undefined && { name }),
        ...(note !== undefined && { note }),
        ...(tags !== undefined && { tags: changedTags(present.tags, tags) }),
      };
      const fields = requireRoom(changed, tags === undefined ? 'note' : 'tags');
      return {
        fields,
        ...(status !== undefined && changedStatus(found, status, context.now())),
      };
    });
    return answerExperiment(context, experiment);
  },
});
