import * as z from 'zod';
import {
  listRegisteredModels,
  type ModelVersion,
  type RegisteredModel,
} from '../../data/models/registered-model.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import { filterRows } from '../../search/filter-rows.ts';
import { RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import type { Attribute, Vocabulary } from '../../search/vocabulary.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { route } from '../protocol/route.ts';
import {
  answerPage,
  maxResults,
  pageAfter,
  readFilter,
  readOrder,
  searchFields,
} from '../protocol/search-fields.ts';
import { allVersions } from './find.ts';
import { showRegistered, showVersion } from './show.ts';

/**
 * Limit and default from MLflow's server: `SEARCH_REGISTERED_MODEL_MAX_RESULTS_…` and
 * `SEARCH_MODEL_VERSION_MAX_RESULTS_…`.
 */
const resultsOfModels = maxResults(1000, 100);

export const searchRegistered = route(
  'GET mlflow/registered-models/search',
  z.object({ ...searchFields, max_results: resultsOfModels }),
  async ({ filter, order_by, max_results, page_token }, context) => {
    const wanted = readFilter(filter, models);
    const terms = readOrder([...order_by, 'name ASC'], models);
    const order = new RowOrder(terms, ({ registration_id }: RegisteredModel) => registration_id);
    const matching = await filterRows(await allModels(context), wanted);
    const page = await selectPage(matching, order, {
      limit: max_results,
      after: pageAfter(page_token, order),
    });
    return answerPage('registered_models', page, order, (rows) => showRegistered(context, rows));
  },
);

const timeOf = <Row extends { created_at: string; updated_at: string }>(
  which: 'created_at' | 'updated_at',
): Attribute<Row> => ({
  type: 'time',
  read: (row) => Date.parse(row[which]),
});

const models: Vocabulary<RegisteredModel> = {
  attributes: {
    name: { type: 'text', read: ({ name }) => name },
    creation_timestamp: timeOf('created_at'),
    last_updated_timestamp: timeOf('updated_at'),
    timestamp: timeOf('updated_at'),
  },
  groups: { tags: { type: 'text', read: ({ tags }, key) => tagOf(tags, key) } },
  groupAliases: { tag: 'tags' },
};

const tagOf = (tags: Readonly<Record<string, string>>, key: string): string | undefined =>
  tags[key] ?? (key === promptTag ? 'false' : undefined);

/** Tag that only prompts have. Clients filter by it to exclude prompts. */
const promptTag = 'mlflow.prompt.is_prompt';

async function allModels({ records }: Pick<MlflowContext, 'records'>): Promise<RegisteredModel[]> {
  const found: RegisteredModel[] = [];
  for await (const page of pagesOf((after) => listRegisteredModels(records, { after }))) {
    found.push(...page.items);
  }
  return found;
}

const resultsOfVersions = maxResults(200_000, 10_000);

export const searchVersions = route(
  'GET mlflow/model-versions/search',
  z.object({ ...searchFields, max_results: resultsOfVersions }),
  async ({ filter, order_by, max_results, page_token }, context) => {
    const wanted = readFilter(filter, versions);
    const first = order_by.length > 0 ? order_by : ['last_updated_timestamp DESC'];
    const terms = readOrder([...first, 'name ASC', 'version_number DESC'], versions);
    const order = new RowOrder(
      terms,
      ({ version }: VersionRow) => `${version.registration_id}#${version.number}`,
    );
    const [, single, double] = oneName.exec(filter) ?? [];
    const named = single ?? double;
    const known = (await allModels(context)).filter(({ name }) => named === undefined || name === named);
    const byId = new Map(known.map((model) => [model.registration_id, model]));
    const only = named === undefined ? undefined : known[0]?.registration_id;
    const found = named !== undefined && only === undefined ? [] : await allVersions(context, only);
    const all = found.flatMap((version): VersionRow[] => {
      const model = byId.get(version.registration_id);
      return model === undefined ? [] : [{ model, version }];
    });
    const rows = await filterRows(all, wanted);
    const page = await selectPage(rows, order, { limit: max_results, after: pageAfter(page_token, order) });
    return answerPage('model_versions', page, order, (some) =>
      some.map(({ model, version }) => showVersion(model, version)),
    );
  },
);

const versions: Vocabulary<VersionRow> = {
  attributes: {
    name: { type: 'text', read: ({ model }) => model.name },
    run_id: { type: 'text', read: ({ version }) => version.run_id },
    source_path: { type: 'text', read: ({ version }) => version.source },
    source: { type: 'text', read: ({ version }) => version.source },
    version_number: { type: 'number', read: ({ version }) => version.number },
    creation_timestamp: { type: 'time', read: ({ version }) => Date.parse(version.created_at) },
    last_updated_timestamp: { type: 'time', read: ({ version }) => Date.parse(version.updated_at) },
  },
  groups: { tags: { type: 'text', read: ({ version }, key) => tagOf(version.tags, key) } },
  groupAliases: { tag: 'tags' },
};

/** A version with its model. */
interface VersionRow {
  model: RegisteredModel;
  version: ModelVersion;
}

/** Filter by one model name. It saves the read of all other models' versions. */
const oneName = /^\s*name\s*=\s*(?:'([^']+)'|"([^"]+)")\s*(?:and\b|$)/i;
