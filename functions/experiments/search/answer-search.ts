import { badRequest } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { readUsernames } from '../../../shared/data/accounts/user.ts';
import type { ExperimentRow } from '../../../shared/data/experiments/experiment-row.ts';
import {
  experimentOrder,
  type FoundExperiment,
  isSearchPosition,
  readFound,
  searchExperiments,
} from '../../../shared/data/experiments/search-experiments.ts';
import { readCriteria } from '../../../shared/data/projects/first-criterion.ts';
import type { Page, TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import { showExperiment } from '../../../shared/experiments/experiment-answer.ts';
import { experimentVocabulary } from '../../../shared/experiments/experiment-vocabulary.ts';
import { ProjectRankers } from '../../../shared/experiments/project-rankers.ts';
import { answerList, type Paging } from '../../../shared/http/definition/paging.ts';
import { placeInLine } from '../../../shared/jobs/line.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/parse-order.ts';
import { encodePosition } from '../../../shared/search/row-order.ts';

interface Searching {
  records: TableReader<'records'>;
  /** The same table, for what the search folds. */
  catalogue: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  settings: Settings;
  now(): Date;
}

type Search = Pick<Paging, keyof Paging> & {
  filter?: string | undefined;
  order_by?: string | undefined;
  fields?: string | undefined;
  project_id?: readonly string[] | undefined;
};

/** Answer a page of the experiments of these projects that a search finds. */
export function answerSearch(
  { records, catalogue, accounts, settings, now }: Searching,
  project_ids: readonly string[],
  query: Search,
) {
  const at = now();
  let usernames: ReadonlyMap<string, string> = new Map();
  const rankers = new ProjectRankers();
  const takeCriteria = async (ids: Iterable<string>) => {
    const lacking = rankers.lacking(ids);
    if (lacking.length > 0) rankers.take(await readCriteria(records, lacking));
  };
  const vocabulary = experimentVocabulary({
    now: at,
    usernameOf: (id) => usernames.get(id),
    bestOf: (row) => rankers.of(row.project_id).best(row)?.value,
  });
  const asked = parseFilter(query.filter ?? '', vocabulary);
  // What an MLflow client has deleted is there only for its restore.
  const filter = {
    ...asked,
    matches: (row: ExperimentRow) => row.deleted_at === undefined && asked.matches(row),
  };
  const order_by = parseOrder(query.order_by ?? '', vocabulary);
  if (query.cursor !== undefined && !isSearchPosition(query.cursor, order_by))
    throw badRequest([{ in: 'query', name: 'cursor', message: 'is not a cursor of this list' }]);
  const attributes = [...filter.names, ...order_by.map(({ name }) => name)].map(({ attribute }) => attribute);
  const prepare = async (user_ids: ReadonlySet<string>) => {
    if (attributes.includes('user')) usernames = await readUsernames(accounts, [...user_ids]);
    // Read before rows are compared by it.
    if (attributes.includes('best')) await takeCriteria(project_ids);
  };
  const order = experimentOrder(order_by);
  return answerList(query, {
    fetch: async ({ limit, after }): Promise<Page<FoundExperiment>> => {
      const found = await searchExperiments(catalogue, project_ids, {
        filter,
        order_by,
        limit,
        after,
        prepare,
      });
      const { items, unreadable } = await readFound(records, found.rows);
      await takeCriteria(found.rows.map(({ project_id }) => project_id));
      const placed = await placeInLine(
        records,
        settings.limits,
        items.map(({ experiment }) => experiment),
      );
      const shown = items.map((item, index) => ({ ...item, experiment: placed[index] ?? item.experiment }));
      return { items: shown, next: found.next, unreadable: [...found.unreadable, ...unreadable] };
    },
    keyOf: ({ row }) => encodePosition(order.positionOf(row)),
    show: ({ experiment, tracking }) =>
      showExperiment(experiment, at, tracking, rankers.of(experiment.project_id)),
  });
}
