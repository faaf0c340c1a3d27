import { badRequest, notFound } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { paragraphOrBlank } from '../../../shared/core/text/text-rules.ts';
import { readUsernames } from '../../../shared/data/accounts/user.ts';
import { type Experiment, listExperiments } from '../../../shared/data/experiments/experiment.ts';
import type { ExperimentRow } from '../../../shared/data/experiments/experiment-row.ts';
import {
  experimentOrder,
  type FoundExperiment,
  isSearchPosition,
  readFound,
  searchExperiments,
} from '../../../shared/data/experiments/search-experiments.ts';
import { nothingTracked, readTrackingOf, type Tracking } from '../../../shared/data/experiments/tracking.ts';
import { listProjects, projectKey } from '../../../shared/data/projects/project.ts';
import type { Item, Page, TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import { ExperimentAnswer, showExperiment } from '../../../shared/experiments/experiment-answer.ts';
import {
  anyExperiment,
  faultIn,
  maxFilter,
  SearchText,
  searchDescription,
} from '../../../shared/experiments/filter-rule.ts';
import { SearchSurroundings } from '../../../shared/experiments/search/search-surroundings.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { answerList, type Paging } from '../../../shared/http/definition/pagination.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';
import { fieldsParameter, maskOfFields } from '../../../shared/http/fields-mask/fields-parameter.ts';
import { type Placed, withQueuePosition } from '../../../shared/jobs/waiting-queue.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { encodePosition, parseOrder } from '../../../shared/search/row-order.ts';

/** Answer one page of the matching experiments of these projects. */
export function answerSearch(
  { records, catalogue, accounts, settings, now }: Searching,
  project_ids: readonly string[],
  query: Search,
) {
  const at = now();
  const surroundings = new SearchSurroundings({ records, accounts }, at);
  const { vocabulary, rankers, usernames } = surroundings;
  const parsed = parseFilter(query.filter ?? '', vocabulary);
  // A deleted experiment can only be restored, so leave it out unless deleted ones are wanted.
  const { deleted = false } = query;
  const filter = {
    ...parsed,
    matches: (row: ExperimentRow) => (row.deleted_at !== undefined) === deleted && parsed.matches(row),
  };
  const order_by = parseOrder(query.order_by ?? '', vocabulary);
  if (query.cursor !== undefined && !isSearchPosition(query.cursor, order_by))
    throw badRequest([{ in: 'query', name: 'cursor', message: 'is not a cursor of this list' }]);
  const prepare = surroundings.before(project_ids, [...filter.names, ...order_by.map(({ name }) => name)]);
  const order = experimentOrder(order_by);
  const mask = maskOfFields(query);
  /** Rows that were found but not read yet. The records of all may take much more than an answer has room for. */
  let waiting: readonly ExperimentRow[] = [];
  let next: string | undefined;
  return answerList(query, {
    fetch: async ({ limit, after }): Promise<Page<ExperimentRow>> => {
      let unreadable: Page<ExperimentRow>['unreadable'];
      if (waiting.length === 0) {
        const search = { filter, order_by, limit, after, prepare };
        ({ rows: waiting, next, unreadable } = await searchExperiments(catalogue, project_ids, search));
      }
      const items = waiting.slice(0, Math.min(limit, maxPage));
      waiting = waiting.slice(items.length);
      const last = items.at(-1);
      const isLast = waiting.length === 0 || last === undefined;
      return {
        items,
        next: isLast ? next : encodePosition(order.positionOf(last)),
        ...(unreadable && { unreadable }),
      };
    },
    complete: async ({
      items: rows,
      unreadable: lacking = [],
    }): Promise<Omit<Page<FoundExperiment>, 'next'>> => {
      const { items, unreadable } = await readFound(records, rows);
      await surroundings.read(rows);
      const placed = await withQueuePosition(
        records,
        settings.limits,
        items.map(({ experiment }) => experiment),
      );
      const shown = items.map((item, index) => ({ ...item, experiment: placed[index] ?? item.experiment }));
      return { items: shown, unreadable: [...lacking, ...unreadable] };
    },
    keyOf: ({ row }) => encodePosition(order.positionOf(row)),
    show: ({ experiment, tracking }) =>
      showExperiment(experiment, at, tracking, {
        ranker: rankers.of(experiment.project_id),
        usernames,
        asked: mask,
        settings,
      }),
  });
}

/** Return the names of the users of these rows, by id. */
const readNamesOf = (
  accounts: TableReader<'accounts'>,
  rows: readonly { user_id: string }[],
): Promise<Map<string, string>> => readUsernames(accounts, [...new Set(rows.map(({ user_id }) => user_id))]);

interface Searching {
  records: TableReader<'records'>;
  /** The same table, writable: a search folds marks into the catalogue. */
  catalogue: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  settings: Settings;
  now(): Date;
}

type Search = Pick<Paging, keyof Paging> & {
  filter?: string | undefined;
  order_by?: string | undefined;
  fields?: string | undefined;
  deleted?: boolean | undefined;
  project_id?: readonly string[] | undefined;
};

/** Query parameter that lists the deleted experiments instead of the others. */
export const deletedParameter = flag
  .optional()
  .describe('`true` lists the experiments that are marked as deleted instead of the others.');

/** Query parameters of every search of experiments. */
export const searchParameters = {
  filter: SearchText.optional().describe(searchDescription),
  order_by: paragraphOrBlank(maxFilter)
    .superRefine((text, { addIssue }) => {
      const fault = faultIn(() => {
        const terms = parseOrder(text, anyExperiment);
        if (terms.length > maxTerms) addIssue(`has ${terms.length} names; at most ${maxTerms} are allowed`);
      });
      if (fault !== undefined) addIssue(fault);
    })
    .optional()
    .describe(
      'Names as in `filter` with ASC or DESC, at most four separated by commas, such as `metrics.loss, name DESC`. `best` puts the best first, whatever the goal of the criterion is, and `best DESC` the worst. NaN and then missing values come last in both directions; equal rows follow newest first.',
    ),
  fields: fieldsParameter(ExperimentAnswer),
};

/** Maximum number of terms of an order. A cursor holds the values of all of them. */
const maxTerms = 4;

/** Read a page of the experiments of a project, newest first. */
export const listPage = (
  records: TableReader<'records'>,
  project_id: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Page<Experiment>> =>
  listExperiments(records, project_id, { limit: Math.min(limit, maxPage), after });

/**
 * Add to a page of experiments their params, metrics and tags. Leave deleted ones out.
 * @param track reads them; by default those of experiments that follow one another in the project
 */
export async function withTracking(
  { records, accounts, settings }: Pick<Searching, 'records' | 'accounts' | 'settings'>,
  project_id: string,
  { items: experiments, unreadable = [] }: Page<Experiment>,
  track = (ids: readonly string[]) => readTrackingOf(records, project_id, ids),
): Promise<Omit<Page<TrackedExperiment>, 'next'>> {
  const [placed, tracked, usernames] = await Promise.all([
    withQueuePosition(records, settings.limits, experiments),
    track(experiments.map(({ experiment_id }) => experiment_id)),
    readNamesOf(accounts, experiments),
  ]);
  const all = placed.map((experiment) => ({
    experiment,
    tracking: tracked.of.get(experiment.experiment_id) ?? nothingTracked,
    usernames,
  }));
  // A deleted experiment can only be restored, so leave it out.
  const items = all.filter(({ tracking }) => tracking.fields?.deleted_at === undefined);
  return { items, unreadable: [...unreadable, ...tracked.unreadable] };
}

interface TrackedExperiment {
  experiment: Placed<Experiment>;
  tracking: Tracking;
  usernames: ReadonlyMap<string, string>;
}

/** Maximum number of experiments of a page. The params, metrics and tags of one may take some 100 KB. */
const maxPage = 100;

/**
 * Return the ids of the projects to search: the named ones, else those in the scope of the token, or all. Only named ones may be
 * marked as deleted.
 * @throws ServiceError `not-found` for a missing one; `bad-request` if there are too many to search all
 */
export async function projectsToSearch(
  records: TableReader<'records'>,
  named: readonly string[] | undefined,
  { scope }: Pick<Caller, 'scope'>,
): Promise<string[]> {
  const asked = named ?? scope?.projects;
  if (asked) {
    const ids = [...new Set(asked)];
    const found = await records.batchGet(ids.map(projectKey));
    const absent = ids.find((_, index) => found[index] === undefined);
    if (named !== undefined && absent !== undefined) throw notFound('project', absent);
    const isShown = (item: Item | undefined) => item?.['deleted_at'] === undefined || named !== undefined;
    return ids.filter((_, index) => found[index] !== undefined && isShown(found[index]));
  }
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await listProjects(records, { limit: maxProjects + 1 - ids.length, after });
    for (const { project_id, deleted_at } of page.items) if (deleted_at === undefined) ids.push(project_id);
    after = page.next;
  } while (after !== undefined && ids.length <= maxProjects);
  if (ids.length <= maxProjects) return ids;
  const message = `is required with more than ${maxProjects} projects`;
  throw badRequest([{ in: 'query', name: 'project_id', message }]);
}

/** Maximum number of projects of one search. */
const maxProjects = 1000;
