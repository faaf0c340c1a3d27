import * as z from 'zod';
import {
  compareModelMetrics,
  type LoggedModel,
  listLoggedModels,
  type ModelMetric,
} from '../../data/experiments/logged-model.ts';
import { filterRows } from '../../search/filter-rows.ts';
import { type OrderTerm, RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import { type Attribute, nameIn, type Vocabulary } from '../../search/vocabulary.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { modelIdOf, runIdOf } from '../protocol/ids.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import {
  answerPage,
  experimentIds,
  maxResults,
  maxTerms,
  pageAfter,
  readFilter,
  searchFields,
} from '../protocol/search-fields.ts';
import { showModel } from './logged-model.ts';

/** Default number of models in a response. */
const usual = 100;

const dataset = { dataset_name: text.optional(), dataset_digest: text.optional() };
const term = z.object({ field_name: text.min(1), ascending: z.boolean().default(true), ...dataset });

export const searchModels = route(
  'POST mlflow/logged-models/search',
  z.object({
    ...searchFields,
    // MLflow's own store sets no limit.
    max_results: maxResults(Infinity, usual),
    experiment_ids: experimentIds.min(1),
    datasets: z.array(z.object(dataset)).default([]),
    order_by: z
      .array(term)
      .max(...maxTerms)
      .default([]),
  }),
  async ({ experiment_ids, filter, datasets, order_by, max_results, page_token }, context) => {
    const wanted = readFilter(filter, vocabularyOf(datasets));
    const order = new RowOrder(order_by.map(termOf), ({ model_id }: LoggedModel) => model_id);
    const after = pageAfter(page_token, order);
    const isWith = measuredWith(datasets);
    const isWanted = (model: LoggedModel): boolean =>
      model.deleted_at === undefined && (datasets.length === 0 || model.metrics.some(isWith));
    const models: LoggedModel[] = [];
    for (const id of new Set(experiment_ids)) {
      const { project_id } = await requireExperimentProject(context, id, 'viewer');
      for (let from: string | undefined; ; ) {
        const listed = await listLoggedModels(context.records, project_id, { after: from });
        models.push(...(await filterRows(listed.items.filter(isWanted), wanted)));
        from = listed.next;
        if (from === undefined) break;
      }
    }
    const page = await selectPage(models, order, { limit: max_results, after });
    return answerPage('models', page, order, (rows) => rows.map(showModel));
  },
);

/**
 * Names that filters and orders of logged models may use. Only metrics measured with one of these data sets count.
 */
const vocabularyOf = (datasets: readonly Dataset[]): Vocabulary<LoggedModel> => ({
  attributes: {
    name: { type: 'text', read: ({ name }) => name },
    model_id: { type: 'text', read: modelIdOf },
    model_type: { type: 'text', read: ({ model_type }) => model_type },
    status: { type: 'text', read: ({ status }) => status },
    source_run_id: {
      type: 'text',
      read: ({ project_id, source_experiment_id }) =>
        source_experiment_id && runIdOf({ project_id, experiment_id: source_experiment_id }),
    },
    creation_time: created,
    creation_timestamp: created,
    last_updated_timestamp: updated,
  },
  groups: {
    metrics: { type: 'number', read: latestValues(measuredWith(datasets)) },
    params: { type: 'text-or-number', read: ({ params }, key) => params[key] },
    tags: { type: 'text', read: ({ tags }, key) => tags[key] },
  },
});

interface Dataset {
  dataset_name?: string | undefined;
  dataset_digest?: string | undefined;
}

const created: Attribute<LoggedModel> = { type: 'time', read: ({ created_at }) => Date.parse(created_at) };
const updated: Attribute<LoggedModel> = { type: 'time', read: ({ updated_at }) => Date.parse(updated_at) };

/** Return whether a metric was measured with one of these data sets. An empty list matches any metric. */
function measuredWith(datasets: readonly Dataset[]): (metric: ModelMetric) => boolean {
  const key = (name: string | null = null, digest: string | null = null) => JSON.stringify([name, digest]);
  const keys = new Set(datasets.map(({ dataset_name, dataset_digest }) => key(dataset_name, dataset_digest)));
  return ({ dataset_name: name, dataset_digest: digest }) =>
    keys.size === 0 ||
    keys.has(key(name, digest)) ||
    keys.has(key(name)) ||
    keys.has(key(null, digest)) ||
    keys.has(key());
}

/** Return a reader of the latest values of metrics. It goes through the metrics of a model once for all names. */
function latestValues(isWith: (metric: ModelMetric) => boolean) {
  const values = new WeakMap<LoggedModel, ReadonlyMap<string, number>>();
  return (model: LoggedModel, name: string): number | undefined => {
    let known = values.get(model);
    if (known === undefined) {
      const inOrder = model.metrics.filter(isWith).toSorted(compareModelMetrics);
      known = new Map(inOrder.map((one) => [one.name, one.value]));
      values.set(model, known);
    }
    return known.get(name);
  };
}

/** Parse one order term. @throws ServiceError `INVALID_PARAMETER_VALUE` for a name that models do not have */
function termOf({ field_name, ascending, ...dataset }: z.output<typeof term>): OrderTerm<LoggedModel> {
  const dot = field_name.indexOf('.');
  const [group, key] =
    dot < 0 ? [undefined, field_name] : [field_name.slice(0, dot), field_name.slice(dot + 1)];
  const vocabulary = vocabularyOf(
    Object.values(dataset).some((value) => value !== undefined) ? [dataset] : [],
  );
  const name = nameIn(vocabulary, group, key);
  if (name === undefined)
    throw mlflowError('INVALID_PARAMETER_VALUE', `Invalid order by field name: ${field_name}`);
  return { name, descending: !ascending };
}
