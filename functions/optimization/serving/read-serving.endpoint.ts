import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import { requireServing } from '../../../shared/data/models/serving.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { modelPath } from '../models/model-request.ts';
import { ServingDetails, showServing } from './serving-answer.ts';

export const endpoint = defineEndpoint({
  name: 'readServing',
  method: 'GET',
  path: '/optimization/models/{model_name}/serving',
  summary: 'How a model is served, with its counters of this month',
  description:
    'Counters are written once a second by each instance: the last second of an instance may be missing.',
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: { records: readRecords },
  input: { path: modelPath },
  output: { 200: ServingDetails },
  problems: ['not-found'],

  async handle({ path: { model_name } }, context) {
    const serving = await requireServing(context.records, model_name);
    requireReachedProject(context.caller, serving.project_id);
    return showServing(serving, context);
  },
});
