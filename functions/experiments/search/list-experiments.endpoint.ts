import * as z from 'zod';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { foldCatalogues, readRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer, showExperiment } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { maskOfFields } from '../../../shared/http/fields-mask/fields-parameter.ts';
import { MetricRanker } from '../../../shared/metrics/metric-ranker.ts';
import { answerSearch, deletedParameter, listPage, searchParameters, withTracking } from './answer-search.ts';

export const endpoint = defineEndpoint({
  name: 'listExperiments',
  method: 'GET',
  path: '/projects/{project_id}/experiments',
  summary: "The project's experiments, newest first",
  description:
    '`filter` selects experiments and `order_by` sorts them. `deleted=true` lists the deleted ones that can be restored. A search finds everything that was acknowledged before it began, and no experiment appears on two pages, even while others are added or deleted.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, catalogue: foldCatalogues, accounts: readUsers },
  input: {
    path: projectPath,
    query: z.strictObject({ ...searchParameters, deleted: deletedParameter, ...paging }),
  },
  work: 'heavy: with a filter or order, and of deleted ones, all rows of the project, a page of records; otherwise a page',
  writes: 'folds what it has read slowly into the catalogue, where the next search finds it',
  output: { 200: z.array(ExperimentAnswer) },
  fieldsParameter: true,
  isHeavy: ({ query: { filter, order_by, deleted } }) =>
    filter !== undefined || order_by !== undefined || deleted === true,

  async handle({ path, query }, context) {
    const { now, settings } = context;
    const { filter, order_by, deleted } = query;
    if (filter !== undefined || order_by !== undefined || deleted === true)
      return answerSearch(context, [path.project_id], query);
    const at = now();
    const mask = maskOfFields(query);
    const ranker = new MetricRanker(await readCriterion(context.records, path.project_id));
    return answerList(query, {
      fetch: (page) => listPage(context.records, path.project_id, page),
      complete: (page) => withTracking(context, path.project_id, page),
      keyOf: ({ experiment }) => experiment.experiment_id,
      show: ({ experiment, tracking, usernames }) =>
        showExperiment(experiment, at, tracking, { ranker, usernames, asked: mask, settings }),
    });
  },
});
