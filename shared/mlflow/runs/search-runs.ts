import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { findExperiment } from '../../data/experiments/experiment.ts';
import { type ExperimentRow, type RowDataset, rowOf } from '../../data/experiments/experiment-row.ts';
import {
  experimentOrder,
  isSearchPosition,
  type ProjectRows,
  projectsAtOnce,
  readProjects,
  searchExperiments,
} from '../../data/experiments/search-experiments.ts';
import { type ExperimentFields, findFieldsOfEach, readTracking } from '../../data/experiments/tracking.ts';
import type { Project } from '../../data/projects/project.ts';
import { readAhead } from '../../data/table/table.ts';
import { decodePosition } from '../../search/row-order.ts';
import type { Attribute, Vocabulary } from '../../search/vocabulary.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { noteTag } from '../projects/show-experiment.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { artifactUriOf, runIdOf } from '../protocol/ids.ts';
import { route } from '../protocol/route.ts';
import {
  answerPage,
  experimentIds,
  isInView,
  positionOf,
  readFilter,
  readOrder,
  searchFields,
  viewType,
} from '../protocol/search-fields.ts';
import { runNameTag, runStatusOf, showRun, userTag } from './show-run.ts';

export const searchRuns = route(
  'POST mlflow/runs/search',
  z.object({
    ...searchFields,
    experiment_ids: experimentIds.default([]),
    run_view_type: viewType,
  }),
  async ({ experiment_ids, filter, order_by, max_results, page_token, run_view_type }, context) => {
    const wanted = readFilter(filter, runVocabulary);
    // MLflow's default order breaks ties.
    const order = readOrder([...order_by, 'start_time DESC', 'run_id ASC'], runVocabulary);
    const after = positionOf(page_token, (sent) => (isSearchPosition(sent, order) ? sent : undefined));
    const named = [...new Set(experiment_ids)];
    const read = readRowsAhead(context, named);
    const projects = await projectsOf(context, named);
    const deleted = new Set(
      projects.flatMap((project) => (project.deleted_at === undefined ? [] : [project.project_id])),
    );
    const isDeleted = (row: ExperimentRow): boolean =>
      row.deleted_at !== undefined || deleted.has(row.project_id);
    const inView = {
      ...wanted,
      matches: (row: ExperimentRow) => isInView(run_view_type, isDeleted(row)) && wanted.matches(row),
    };
    const ids = projects.map(({ project_id }) => project_id);
    const search = { filter: inView, order_by: order, limit: Math.min(max_results, maxPage), after };
    const { rows, next: position } = await searchExperiments(context.records, ids, {
      ...search,
      read: context.job === undefined ? read : () => readOwnRows(context, ids),
    });
    const page = { rows, next: position === undefined ? undefined : decodePosition(position) };
    return answerPage('runs', page, experimentOrder(order), async (some) => {
      const links = await linksOf(context, some);
      return some.values().map((row) => textOf(row, isDeleted(row), links.get(row.experiment_id)));
    });
  },
);

const runName: Attribute<ExperimentRow> = { type: 'text', read: ({ name }) => name };
const start: Attribute<ExperimentRow> = {
  type: 'time',
  read: ({ started_at, created_at }) => Date.parse(started_at ?? created_at),
};
const end: Read = ({ stopped_at }) => (stopped_at === null ? null : Date.parse(stopped_at));

const ofDatasets =
  (read: (dataset: RowDataset) => string | null) =>
  ({ datasets = [] }: ExperimentRow): string[] =>
    datasets.flatMap((dataset) => read(dataset) ?? []);

/** Names that filters and orders of runs may use, with MLflow's values. */
const runVocabulary: Vocabulary<ExperimentRow> = {
  attributes: {
    run_id: { type: 'text', read: runIdOf },
    run_name: runName,
    'run name': runName,
    'Run name': runName,
    'Run Name': runName,
    status: { type: 'text', read: ({ status }) => runStatusOf(status) },
    user_id: { type: 'text', read: (row) => row.tag(userTag) ?? '' },
    artifact_uri: { type: 'text', read: artifactUriOf },
    start_time: start,
    created: start,
    Created: start,
    end_time: { type: 'time', read: end },
  },
  groups: {
    metrics: { type: 'number', read: (row, name) => row.lastOf(name) },
    params: { type: 'text', read: (row, name) => row.param(name) },
    tags: { type: 'text', read: tagOf },
  },
  lists: {
    'datasets.name': ofDatasets(({ name }) => name),
    'datasets.digest': ofDatasets(({ digest }) => digest),
    'datasets.context': ofDatasets(({ context }) => context),
  },
  groupAliases: {
    dataset: 'datasets',
    metric: 'metrics',
    parameters: 'params',
    parameter: 'params',
    param: 'params',
    tag: 'tags',
  },
};

type Read = Attribute<ExperimentRow>['read'];

function tagOf(row: ExperimentRow, name: string): string | undefined {
  if (name === runNameTag) return row.name;
  return name === noteTag ? (row.note ?? undefined) : row.tag(name);
}

/**
 * Start to read the searched rows in parallel with the access check. This is safe, because nothing of them is answered
 * before it.
 */
const readRowsAhead = ({ records, job }: MlflowContext, ids: readonly string[]) =>
  job === undefined && ids.length <= projectsAtOnce && ids.every((id) => Ulid.safeParse(id).success)
    ? readAhead(() => readProjects(records, ids))
    : undefined;

/** Read the rows of a job's own experiment and of those that its program has begun, if their project is searched. */
async function readOwnRows({ records, job }: MlflowContext, ids: readonly string[]): Promise<ProjectRows[]> {
  if (job === undefined) return [];
  const { project_id, experiment_id } = job.experiment;
  if (!ids.includes(project_id)) return [];
  const rows: ExperimentRow[] = [];
  const own = [experiment_id, ...job.runs.begun()];
  for (let from = 0; from < own.length; from += ownAtOnce)
    for (const found of await Promise.all(
      own
        .slice(from, from + ownAtOnce)
        .map((id) =>
          Promise.all([findExperiment(records, project_id, id), readTracking(records, project_id, id)]),
        ),
    ))
      if (found[0] !== undefined) rows.push(rowOf(found[0], found[1]));
  return [{ rows, unreadable: [] }];
}

const ownAtOnce = 16;

/** Find the projects of a search. @throws the error of the first project that fails */
async function projectsOf(context: MlflowContext, ids: readonly string[]): Promise<Project[]> {
  const found = await Promise.allSettled(ids.map((id) => requireExperimentProject(context, id, 'viewer')));
  return found.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/**
 * Maximum number of runs that one response reads. This many of the smallest runs fill a response. Clients follow
 * its token.
 */
const maxPage = 10_000;

/** Read the fields of rows with data sets or models. The catalogue only has a short form of these fields. */
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

/**
 * Return the JSON of a run. It is only cached if it depends on nothing but the row, because other inputs may
 * change while the row stays.
 */
const textOf = (row: ExperimentRow, isDeleted: boolean, links: ExperimentFields | undefined): string =>
  isDeleted || row.datasets !== undefined
    ? JSON.stringify(show(row, isDeleted, links))
    : texts.textOf(row, () => JSON.stringify(show(row, false, undefined)));

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

/**
 * Cache of texts for immutable objects, such as the rows of segments that a process keeps. It has two generations:
 * a hit moves into the younger one, and when that is full, the older one is dropped. So the cache keeps at most
 * twice the characters of a generation, and no text of an object that is garbage-collected.
 */
export class KeptTexts<Of extends object> {
  readonly #most: number;
  #younger = new WeakMap<Of, string>();
  #older = new WeakMap<Of, string>();
  #characters = 0;

  /** @param most UTF-16 units of a generation */
  constructor(most = maxCharacters) {
    this.#most = most;
  }

  /** Return the text of an object; make it if it is not cached. */
  textOf(one: Of, make: () => string): string {
    const present = this.#younger.get(one);
    if (present !== undefined) return present;
    const text = this.#older.get(one) ?? make();
    if (this.#characters + text.length > this.#most) {
      this.#older = this.#younger;
      this.#younger = new WeakMap();
      this.#characters = 0;
    }
    this.#younger.set(one, text);
    this.#characters += text.length;
    return text;
  }
}

/** Maximum number of characters of a generation: the texts of some 2,000 runs. */
const maxCharacters = 4_000_000;

/** Clients that watch runs request the same ones repeatedly, and most of these have ended. */
const texts = new KeptTexts<ExperimentRow>();
