import * as z from 'zod';
import { listModels } from '../../../shared/data/models/model.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { ModelRow, showModelRow } from './model-answer.ts';

export const endpoint = defineEndpoint({
  name: 'listModels',
  method: 'GET',
  path: '/optimization/models',
  summary: 'The models of this deployment, by name',
  allow: 'viewer',
  needs: { records: readRecords },
  input: { query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ModelRow) },

  handle({ query }, { records }) {
    return answerList(query, {
      fetch: (page) => listModels(records, page),
      keyOf: ({ model_name }) => model_name,
      show: showModelRow,
    });
  },
});

export const handler = lambda(endpoint);
