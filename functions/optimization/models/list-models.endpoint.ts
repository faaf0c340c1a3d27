import * as z from 'zod';
import { reachesProject } from '../../../shared/data/accounts/token-scope.ts';
import { listModels } from '../../../shared/data/models/model.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { ModelRow, showModelRow } from './model-answer.ts';
import { projectOf } from './project-of.ts';

export const endpoint = defineEndpoint({
  name: 'listModels',
  method: 'GET',
  path: '/optimization/models',
  summary: 'The models of this deployment, by name',
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: { records: readRecords },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ModelRow) },

  handle({ query }, { records, caller }) {
    return answerList(query, {
      fetch: async (page) => {
        const found = await listModels(records, page);
        if (caller.scope === undefined) return found;
        const projects = await Promise.all(found.items.map((model) => projectOf(records, model)));
        const items = found.items.filter((_, index) => reachesProject(caller, projects[index]));
        return { ...found, items };
      },
      keyOf: ({ model_name }) => model_name,
      show: showModelRow,
    });
  },
});
