import * as z from 'zod';
import { badRequest } from '../../../shared/core/service-error.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { sweepFields } from '../../../shared/sweeps/spec.ts';
import { SweepAnswer } from '../../../shared/sweeps/trials/show-sweep.ts';
import { extended } from './extend-sweep.ts';
import { answerSweep, changeSweep, decidingNeeds, sweepPath } from './sweep.ts';
import { specMaxBytes } from './sweep-request.ts';

const Change = z
  .strictObject({
    name: sweepFields.name.unwrap().optional().describe('Name for people.'),
    note: sweepFields.note.unwrap().nullable().optional().describe('Note, in Markdown; null removes it.'),
    trials: sweepFields.trials.unwrap().optional().describe('New number of configurations.'),
    parallel: sweepFields.parallel.unwrap().optional().describe('Maximum number of experiments at once.'),
    budget: sweepFields.budget.unwrap().nullable().optional().describe('US$; null removes it.'),
    parameters: sweepFields.parameters
      .unwrap()
      .optional()
      .describe('Wider bounds or further values of parameters that the sweep has.'),
  })
  .meta({ minProperties: 1 });

export const endpoint = defineEndpoint({
  name: 'updateSweep',
  method: 'PATCH',
  path: '/projects/{project_id}/sweeps/{sweep_id}',
  summary: 'Rename, extend or widen a sweep',
  description:
    'Changes the fields that are given, at least one. More trials, wider bounds and further values extend it: what is known stays, and a sweep that has ended runs again. A paused sweep stays paused.',
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['name', 'trials', 'budget'] },
  needs: decidingNeeds,
  input: { path: sweepPath, body: fields(Change, specMaxBytes) },
  work: 'page: as many experiments as begin in 12 s',
  output: { 200: SweepAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path, body }, context) {
    if (Object.keys(body).length === 0) {
      const message = `must have at least one of ${Object.keys(Change.shape).join(', ')}`;
      throw badRequest([{ in: 'body', name: 'body', message }]);
    }
    await changeSweep(context, path, (sweep, spec) => {
      requirePrecondition(context, sweep.version);
      return extended(sweep, spec, body);
    });
    return answerSweep(context.records, path);
  },
});
