import * as z from 'zod';
import type { Project } from '../../data/projects/project.ts';
import { RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import { answerPage } from '../protocol/answer-page.ts';
import { route } from '../protocol/route.ts';
import {
  isInView,
  pageAfter,
  readFilter,
  readOrder,
  searchFields,
  viewType,
} from '../protocol/search-fields.ts';
import { experimentVocabulary } from './experiment-vocabulary.ts';
import { ownAndShared } from './find-project.ts';
import { showExperiment } from './show-experiment.ts';

export const searchExperimentsRoute = route(
  'POST mlflow/experiments/search',
  z.object({ ...searchFields, view_type: viewType }),
  async ({ filter, order_by, max_results, page_token, view_type }, context) => {
    const wanted = readFilter(filter, experimentVocabulary);
    const order = new RowOrder<Project>(
      readOrder(order_by, experimentVocabulary),
      ({ project_id }) => project_id,
    );
    const after = pageAfter(page_token, order);
    const projects: Project[] = [];
    for await (const project of ownAndShared(context)) {
      if (isInView(view_type, project.deleted_at !== undefined) && wanted.matches(project))
        projects.push(project);
    }
    const page = selectPage(projects, order, { limit: max_results, after });
    return answerPage('experiments', page, order, (rows) => rows.map(showExperiment));
  },
);
