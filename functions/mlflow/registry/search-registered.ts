import * as z from 'zod';
import {
  listRegisteredModels,
  type ModelVersion,
  type RegisteredModel,
} from '../../../shared/data/registered-model.ts';
import { decodePosition, encodePosition, RowOrder } from '../../../shared/search/row-order.ts';
import { selectPage } from '../../../shared/search/select-page.ts';
import type { Attribute, Vocabulary } from '../../../shared/search/vocabulary.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { route } from '../protocol/route.ts';
import { positionOf, readFilter, readOrder, searchFields, tokenOf } from '../protocol/search-fields.ts';
import { allVersions } from './find.ts';
import { showRegistered, showVersion } from './show.ts';

const timeOf = <Row extends { created_at: string; updated_at: string }>(
  which: 'created_at' | 'updated_at',
): Attribute<Row> => ({
  type: 'time',
  read: (row) => Date.parse(row[which]),
});

/** Clients ask for everything that is no prompt by this tag, which only prompts bear. */
const promptTag = 'mlflow.prompt.is_prompt';
const tagOf = (tags: Readonly<Record<string, string>>, key: string): string | undefined =>
  tags[key] ?? (key === promptTag ? 'false' : undefined);

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

/** Models of an answer. */
const pageMost = 100;

async function allModels({ records }: Pick<MlflowContext, 'records'>): Promise<RegisteredModel[]> {
  const found: RegisteredModel[] = [];
  let after: string | undefined;
  do {
    const page = await listRegisteredModels(records, { after });
    found.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return found;
}

/** A page of rows by order, with the token of the next one. */
function pageOfRows<Row>(
  rows: readonly Row[],
  order: RowOrder<Row>,
  page_token: string,
  limit: number,
): { rows: Row[]; next_page_token?: string } {
  const token = positionOf(page_token, (text) => {
    const position = decodePosition(text);
    return position !== undefined && order.takes(position);
  });
  const after = token === undefined ? undefined : decodePosition(token);
  const page = selectPage(rows, order, { limit, after });
  return { rows: page.rows, ...(page.next && { next_page_token: tokenOf(encodePosition(page.next)) }) };
}

export const searchRegistered = route(
  'GET mlflow/registered-models/search',
  z.object(searchFields),
  async ({ filter, order_by, max_results, page_token }, context) => {
    const wanted = readFilter(filter, models);
    const terms = readOrder([...order_by, 'name ASC'], models);
    const order = new RowOrder(terms, ({ registration_id }: RegisteredModel) => registration_id);
    const matching = (await allModels(context)).filter((model) => wanted.matches(model));
    const { rows, ...next } = pageOfRows(matching, order, page_token, Math.min(max_results, pageMost));
    return { registered_models: await showRegistered(context, rows), ...next };
  },
);

/** A version with the model that it is of. */
interface VersionRow {
  model: RegisteredModel;
  version: ModelVersion;
}
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

/** The model that a filter asks for by its name, which spares reading the versions of all others. */
const oneName = /^\s*name\s*=\s*(?:'([^']+)'|"([^"]+)")\s*(?:and\b|$)/i;
const versionsMost = 1000;

export const searchVersions = route(
  'GET mlflow/model-versions/search',
  z.object({ ...searchFields, max_results: searchFields.max_results.unwrap().default(10_000) }),
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
    const rows = found
      .flatMap((version): VersionRow[] => {
        const model = byId.get(version.registration_id);
        return model === undefined ? [] : [{ model, version }];
      })
      .filter((row) => wanted.matches(row));
    const page = pageOfRows(rows, order, page_token, Math.min(max_results, versionsMost));
    const { rows: shown, ...next } = page;
    return { model_versions: shown.map(({ model, version }) => showVersion(model, version)), ...next };
  },
);
