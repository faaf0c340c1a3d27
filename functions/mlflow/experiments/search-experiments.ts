import * as z from 'zod';
import type { Project } from '../../../shared/data/project.ts';
import { decodePosition, encodePosition, RowOrder } from '../../../shared/search/row-order.ts';
import { selectPage } from '../../../shared/search/select-page.ts';
import { route } from '../protocol/route.ts';
import {
  isInView,
  positionOf,
  readFilter,
  readOrder,
  searchFields,
  tokenOf,
  viewType,
} from '../protocol/search-fields.ts';
import { experimentVocabulary } from './experiment-vocabulary.ts';
import { ownAndShared } from './find-project.ts';
import { showExperiment } from './show-experiment.ts';

/** Experiments of an answer, with tags of at most 64 KB each. */
const pageMost = 1000;
const answerMaxBytes = 4_000_000;

/** As many of the first ones as an answer takes, at least one. */
function within(shown: readonly object[]): number {
  let bytes = 0;
  const over = shown.findIndex((one) => {
    bytes += Buffer.byteLength(JSON.stringify(one));
    return bytes > answerMaxBytes;
  });
  return over < 0 ? shown.length : Math.max(1, over);
}

export const searchExperimentsRoute = route(
  'POST mlflow/experiments/search',
  z.object({ ...searchFields, view_type: viewType }),
  async ({ filter, order_by, max_results, page_token, view_type }, context) => {
    const wanted = readFilter(filter, experimentVocabulary);
    const order = new RowOrder<Project>(
      readOrder(order_by, experimentVocabulary),
      ({ project_id }) => project_id,
    );
    const isPosition = (text: string): boolean => {
      const position = decodePosition(text);
      return position !== undefined && order.takes(position);
    };
    const token = positionOf(page_token, isPosition);
    const projects: Project[] = [];
    for await (const project of ownAndShared(context)) {
      if (isInView(view_type, project.deleted_at !== undefined) && wanted.matches(project))
        projects.push(project);
    }
    const { rows, next } = selectPage(projects, order, {
      limit: Math.min(max_results, pageMost),
      after: token === undefined ? undefined : decodePosition(token),
    });
    const shown = rows.map(showExperiment);
    const length = within(shown);
    const last = rows[length - 1];
    const isMore = length < rows.length || next !== undefined;
    return {
      experiments: shown.slice(0, length),
      ...(isMore &&
        last !== undefined && { next_page_token: tokenOf(encodePosition(order.positionOf(last))) }),
    };
  },
);
