import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import { foldCatalogues, readRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { paging } from '../../../shared/http/definition/pagination.ts';
import { answerSearch, projectsToSearch, searchParameters } from './answer-search.ts';

/** Maximum number of projects that a request may name. */
const maxNamed = 100;

export const endpoint = defineEndpoint({
  name: 'searchExperiments',
  method: 'GET',
  path: '/experiments',
  summary: 'Experiments of all projects or of several, newest first',
  description:
    'Like the list of one project, with `filter` and `order_by`. Without `project_id` it searches all projects, up to 1,000.',
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: { records: readRecords, catalogue: foldCatalogues, accounts: readUsers },
  input: {
    query: z.strictObject({
      project_id: z
        .array(Ulid)
        .max(maxNamed, `is given more than ${maxNamed} times`)
        .optional()
        .describe('Project to search; repeatable.'),
      ...searchParameters,
      ...paging,
    }),
  },
  work: 'heavy: rows of 1,000 projects, 16 at once; a page of records',
  writes: 'folds what it has read slowly into the catalogue, where the next search finds it',
  output: { 200: z.array(ExperimentAnswer) },
  problems: ['not-found'],
  fieldsParameter: true,
  isHeavy: () => true,

  async handle({ query }, context) {
    const { records, caller } = context;
    for (const id of query.project_id ?? []) requireReachedProject(caller, id);
    return answerSearch(context, await projectsToSearch(records, query.project_id, caller), query);
  },
});
