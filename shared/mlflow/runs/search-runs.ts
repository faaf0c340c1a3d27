import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import type { ExperimentRow } from '../../data/experiments/experiment-row.ts';
import {
  experimentOrder,
  isSearchPosition,
  projectsAtOnce,
  readProjects,
  searchExperiments,
} from '../../data/experiments/search-experiments.ts';
import { type ExperimentFields, findFieldsOfEach } from '../../data/experiments/tracking.ts';
import type { Project } from '../../data/projects/project.ts';
import { readAhead } from '../../data/table/table.ts';
import { decodePosition } from '../../search/row-order.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { answerPage } from '../protocol/answer-page.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { route } from '../protocol/route.ts';
import {
  experimentIds,
  isInView,
  positionOf,
  readFilter,
  readOrder,
  searchFields,
  viewType,
} from '../protocol/search-fields.ts';
import { KeptTexts } from './kept-texts.ts';
import { runVocabulary } from './run-vocabulary.ts';
import { showRun } from './show-run.ts';

/** Runs that are read for an answer: the smallest ones fill it. Clients follow its token. */
const maxPage = 10_000;

const show = (row: ExperimentRow, isDeleted: boolean, links: ExperimentFields | undefined): object =>
  showRun(
    {
      ...row,
      isDeleted,
      tags: Object.fromEntries(row.tags),
      params: Object.fromEntries(row.params),
      metrics: row.metrics,
    },
    links,
  );

/** Who watches runs asks for the same ones again, and most have ended. */
const texts = new KeptTexts<ExperimentRow>();

/** The JSON of a run. What else than its row decides on it may change while the row stays. */
const textOf = (row: ExperimentRow, isDeleted: boolean, links: ExperimentFields | undefined): string =>
  isDeleted || row.datasets !== undefined
    ? JSON.stringify(show(row, isDeleted, links))
    : texts.textOf(row, () => JSON.stringify(show(row, false, undefined)));

/** Fields of the rows that name data sets or models, which the catalogue has in short alone. */
async function linksOf(
  { records }: MlflowContext,
  rows: readonly ExperimentRow[],
): Promise<ReadonlyMap<string, ExperimentFields>> {
  const linked = rows.filter(({ datasets }) => datasets !== undefined);
  const found = await findFieldsOfEach(records, linked);
  return new Map(
    linked.flatMap(({ experiment_id }, index) => {
      const fields = found[index];
      return fields === undefined ? [] : [[experiment_id, fields]];
    }),
  );
}

/** @throws what is wrong with the first of those with which something is */
async function projectsOf(context: MlflowContext, ids: readonly string[]): Promise<Project[]> {
  const found = await Promise.allSettled(ids.map((id) => requireExperimentProject(context, id, 'viewer')));
  return found.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Begin to read what is searched, beside what tells whether the caller may: who may read anything may read it. */
const readRowsAhead = ({ records, job }: MlflowContext, ids: readonly string[]) =>
  job === undefined && ids.length <= projectsAtOnce && ids.every((id) => Ulid.safeParse(id).success)
    ? readAhead(() => readProjects(records, ids))
    : undefined;

export const searchRuns = route(
  'POST mlflow/runs/search',
  z.object({
    ...searchFields,
    experiment_ids: experimentIds.default([]),
    run_view_type: viewType,
  }),
  async ({ experiment_ids, filter, order_by, max_results, page_token, run_view_type }, context) => {
    const wanted = readFilter(filter, runVocabulary);
    // MLflow's own order where nothing else decides.
    const order = readOrder([...order_by, 'start_time DESC', 'run_id ASC'], runVocabulary);
    const after = positionOf(page_token, (sent) => (isSearchPosition(sent, order) ? sent : undefined));
    const named = [...new Set(experiment_ids)];
    const read = readRowsAhead(context, named);
    const projects = await projectsOf(context, named);
    const deleted = new Set(
      projects.flatMap((one) => (one.deleted_at === undefined ? [] : [one.project_id])),
    );
    const isDeleted = (row: ExperimentRow): boolean =>
      row.deleted_at !== undefined || deleted.has(row.project_id);
    const inView = {
      ...wanted,
      matches: (row: ExperimentRow) => isInView(run_view_type, isDeleted(row)) && wanted.matches(row),
    };
    const ids = projects.map(({ project_id }) => project_id);
    const search = { filter: inView, order_by: order, limit: Math.min(max_results, maxPage), after, read };
    const { rows, next: position } = await searchExperiments(context.records, ids, search);
    const page = { rows, next: position === undefined ? undefined : decodePosition(position) };
    return answerPage('runs', page, experimentOrder(order), async (some) => {
      const links = await linksOf(context, some);
      return some.map((row) => textOf(row, isDeleted(row), links.get(row.experiment_id)));
    });
  },
);
