import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import { requireModel } from '../../../shared/data/models/model.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { ModelDetails, showModel } from './model-answer.ts';
import { modelPath } from './model-request.ts';
import { projectOf } from './project-of.ts';

export const endpoint = defineEndpoint({
  name: 'readModel',
  method: 'GET',
  path: '/optimization/models/{model_name}',
  summary: 'A model, with its inputs, outputs and operators',
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: { records: readRecords },
  input: { path: modelPath },
  output: { 200: ModelDetails },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { model_name } }, { records, caller }) {
    const model = await requireModel(records, model_name);
    if (caller.scope !== undefined) requireReachedProject(caller, await projectOf(records, model));
    return Reply.json(showModel(model), { version: model.version });
  },
});
