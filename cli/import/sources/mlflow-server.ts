import { Readable } from 'node:stream';
import * as z from 'zod';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { CliError } from '../../cli-error.ts';
import type { RunSource, SourceFile, SourceModel, SourcePoint, SourceRun, SourceVersion } from '../source.ts';
import type { TrackingApi } from '../tracking-api.ts';
import { ModelsByRun, modelOf, omitModelFacts, withModelFiles } from './logged-models.ts';
import { tracesOfMlflow } from './mlflow-artifacts.ts';
import { Omissions } from './omissions.ts';
import { RunRecords } from './run-records.ts';

/** Read a tracking server through its REST API. */
export function mlflowServer(api: TrackingApi): RunSource {
  const beside = new Omissions();
  const omissions = new RunRecords<Omissions>();
  return {
    async *experiments() {
      const body = { view_type: 'ALL', max_results: pageRows };
      for await (const { experiments } of pages((token) =>
        api.json(Experiments, 'POST mlflow/experiments/search', { body: { ...body, ...token } }),
      ))
        for (const { experiment_id, name, lifecycle_stage, tags } of experiments)
          yield { id: experiment_id, name, tags, isDeleted: lifecycle_stage === 'deleted' };
    },
    async *runs({ id }) {
      const models = await loggedModelsOf(api, id, beside);
      const traces = await tracesOf(api, id);
      for await (const run of runsOf(api, id)) {
        models.describe(run);
        const ofRun = new Omissions();
        const count = traces.get(run.id);
        if (count !== undefined) ofRun.add(tracesOfMlflow, count);
        traces.delete(run.id);
        omitModelFacts(run, ofRun);
        omissions.set(run, ofRun);
        yield run;
      }
      for (const count of traces.values()) beside.add(`${tracesOfMlflow} without a run`, count);
      const datasets = await datasetsOf(api, id);
      if (datasets > 0) beside.add('evaluation datasets of MLflow', datasets);
    },
    async *points({ id }) {
      const { run } = await wholeRun(api, id);
      for (const metric of new Set(run.data.metrics.map(({ key }) => key))) yield* historyOf(api, id, metric);
    },
    files: (run) =>
      withModelFiles(run, filesOf(api, run.id), ({ id }) =>
        filesIn(api, `GET ${artifactsOf(id)}/directories`, (folder) => ({
          ...(folder !== '' && { artifact_directory_path: folder }),
        })),
      ),
    async openFile(run, { path }) {
      const { model, below = '' } = modelOf(run, path) ?? {};
      const call = model ? `GET /ajax-api/2.0/${artifactsOf(model.id)}/files` : 'GET /get-artifact';
      const query = model ? { artifact_file_path: below } : { run_id: run.id, path };
      const { body } = await api.send(call, { query });
      return Readable.from(body ?? [], { objectMode: false });
    },
    models: () => modelsOf(api),
    omitted: (run) => omissions.of(run).counts,
    omittedBeside: () => beside.counts,
  };
}

/** Path of the files of a logged model. */
const artifactsOf = (model_id: string): string =>
  `mlflow/logged-models/${encodeURIComponent(model_id)}/artifacts`;

const pageRows = 1000;

/** Yield the pages of a search until there is no next token. */
async function* pages<T extends { next_page_token?: string | undefined }>(
  ask: (token: { page_token?: string }) => Promise<T>,
): AsyncGenerator<T> {
  let token: string | undefined;
  do {
    const page = await ask(token === undefined ? {} : { page_token: token });
    yield page;
    token = page.next_page_token === '' ? undefined : page.next_page_token;
  } while (token !== undefined);
}

/** The same. A server that does not know the search has nothing. */
async function* pagesIfAny<T extends { next_page_token?: string | undefined }>(
  ask: (token: { page_token?: string }) => Promise<T>,
): AsyncGenerator<T> {
  try {
    yield* pages(ask);
  } catch (error) {
    if (!(error instanceof ProblemError && [404, 405, 501].includes(error.status))) throw error;
  }
}

const Pairs = z.array(z.object({ key: z.string(), value: z.string().default('') })).default([]);

const next_page_token = z.string().optional();

const Experiments = z.object({
  experiments: z
    .array(
      z.object({ experiment_id: z.string(), name: z.string(), lifecycle_stage: z.string(), tags: Pairs }),
    )
    .default([]),
  next_page_token,
});

// Some servers write 64-bit numbers as strings, others as numbers.
const Long = z.union([z.number(), z.string().transform(Number)]);

const Run = z.object({
  info: z.object({
    run_id: z.string(),
    run_name: z.string().default(''),
    user_id: z.string().default(''),
    status: z.string().default('RUNNING'),
    start_time: Long.optional(),
    end_time: Long.optional(),
    lifecycle_stage: z.string(),
    artifact_uri: z.string().default(''),
  }),
  data: z
    .object({ params: Pairs, tags: Pairs, metrics: z.array(z.object({ key: z.string() })).default([]) })
    .default({ params: [], tags: [], metrics: [] }),
  inputs: z
    .object({ dataset_inputs: z.array(z.record(z.string(), z.unknown())).default([]) })
    .default({ dataset_inputs: [] }),
});

const Runs = z.object({ runs: z.array(Run).default([]), next_page_token });

/** Yield all runs of an experiment, including deleted ones. */
export async function* runsOf(api: TrackingApi, experiment_id: string): AsyncGenerator<SourceRun> {
  const body = { experiment_ids: [experiment_id], run_view_type: 'ALL', max_results: pageRows };
  // Oldest first, so that runs come before their nested runs.
  const order_by = ['attributes.start_time ASC'];
  for await (const { runs } of pages((token) =>
    api.json(Runs, 'POST mlflow/runs/search', { body: { ...body, order_by, ...token } }),
  ))
    for (const run of runs) yield runOf(hasTexts(run) ? run : (await wholeRun(api, run.info.run_id)).run);
}

const LoggedModels = z.object({
  models: z
    .array(
      z.object({
        info: z.object({
          model_id: z.string(),
          name: z.string().default(''),
          source_run_id: z.string().default(''),
          artifact_uri: z.string().default(''),
          tags: Pairs,
        }),
        data: z.object({ params: Pairs }).default({ params: [] }),
      }),
    )
    .default([]),
  next_page_token,
});

/** Return the models that the runs of an experiment have logged. Servers before MLflow 3 have none. */
async function loggedModelsOf(
  api: TrackingApi,
  experiment_id: string,
  beside: Omissions,
): Promise<ModelsByRun> {
  const byRun = new ModelsByRun(beside);
  const body = { experiment_ids: [experiment_id], max_results: 50 };
  for await (const { models } of pagesIfAny((token) =>
    api.json(LoggedModels, 'POST mlflow/logged-models/search', { body: { ...body, ...token } }),
  ))
    for (const { info, data } of models)
      byRun.add(info.source_run_id, {
        ...{ id: info.model_id, name: info.name, artifactUri: info.artifact_uri },
        ...{ params: data.params, tags: info.tags },
      });
  return byRun;
}

/** Return the number of traces of the runs of an experiment, by their ids; of those without one by a blank one. */
async function tracesOf(api: TrackingApi, experiment_id: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const query = { experiment_ids: experiment_id, max_results: 500 };
  for await (const { traces } of pagesIfAny((token) =>
    api.json(Traces, 'GET mlflow/traces', { query: { ...query, ...token } }),
  ))
    for (const { request_metadata } of traces) {
      const run = request_metadata.find(({ key }) => key === 'mlflow.sourceRun')?.value ?? '';
      counts.set(run, (counts.get(run) ?? 0) + 1);
    }
  return counts;
}

const Traces = z.object({
  traces: z.array(z.object({ request_metadata: Pairs })).default([]),
  next_page_token,
});

/** Return the number of data sets of an experiment that MLflow evaluates models by. */
async function datasetsOf(api: TrackingApi, experiment_id: string): Promise<number> {
  let count = 0;
  for await (const { datasets } of pagesIfAny((token) =>
    api.json(Datasets, 'POST /api/3.0/mlflow/datasets/search', {
      body: { experiment_ids: [experiment_id], ...token },
    }),
  ))
    count += datasets.length;
  return count;
}

const Datasets = z.object({ datasets: z.array(z.unknown()).default([]), next_page_token });

/** Searches of this service leave long texts of data sets out, of which the source is one. */
const hasTexts = ({ inputs }: z.output<typeof Run>): boolean =>
  inputs.dataset_inputs.every(({ dataset }) => Reflect.get(Object(dataset), 'source') !== '');

const wholeRun = (api: TrackingApi, run_id: string) =>
  api.json(z.object({ run: Run }), 'GET mlflow/runs/get', { query: { run_id } });

const runOf = ({ info, data, inputs }: z.output<typeof Run>): SourceRun => ({
  id: info.run_id,
  name: info.run_name,
  status: info.status,
  user: info.user_id,
  start: info.start_time,
  end: info.end_time,
  isDeleted: info.lifecycle_stage === 'deleted',
  params: data.params,
  tags: data.tags,
  datasets: inputs.dataset_inputs,
  artifactUri: info.artifact_uri,
  state: `ended ${info.end_time ?? ''}`,
});

const pagePoints = 20_000;

async function* historyOf(
  api: TrackingApi,
  run_id: string,
  metric_key: string,
): AsyncGenerator<SourcePoint[]> {
  const query = { run_id, metric_key, max_results: pagePoints };
  for await (const { metrics } of pages((token) =>
    api.json(History, 'GET mlflow/metrics/get-history', { query: { ...query, ...token } }),
  ))
    yield metrics;
}

const History = z.object({
  metrics: z
    .array(
      z.object({
        key: z.string(),
        value: z.union([z.number(), z.string()]).default(0),
        timestamp: Long.default(0),
        step: Long.default(0),
      }),
    )
    .default([]),
  next_page_token,
});

const Files = z.object({
  files: z
    .array(z.object({ path: z.string(), is_dir: z.boolean().default(false), file_size: Long.default(0) }))
    .default([]),
  next_page_token,
});

export const filesOf = (api: TrackingApi, run_id: string): AsyncGenerator<SourceFile> =>
  filesIn(api, 'GET mlflow/artifacts/list', (folder) => ({ run_id, ...(folder !== '' && { path: folder }) }));

/** Yield the files of a list of folders. @param queryOf names a folder; '' is the top */
async function* filesIn(
  api: TrackingApi,
  call: string,
  queryOf: (folder: string) => Readonly<Record<string, string>>,
  folder = '',
): AsyncGenerator<SourceFile> {
  const query = queryOf(folder);
  for await (const { files } of pages((token) => api.json(Files, call, { query: { ...query, ...token } }))) {
    for (const { path, is_dir, file_size } of files) {
      if (!is_dir) yield { path, size: file_size };
      else if (path.startsWith(folder) && path.length > folder.length)
        yield* filesIn(api, call, queryOf, path);
      else throw new CliError(`${api.url} lists the folder ${path} below ${folder}.`);
    }
  }
}

/** Yield all registered models with their versions. MLflow lists prompts, which are such models, only if it is asked to. */
export async function* modelsOf(api: TrackingApi): AsyncGenerator<SourceModel> {
  const names = new Set<string>();
  for (const filter of ['', onlyPrompts])
    for await (const { registered_models } of pages((token) =>
      api.json(Models, 'GET mlflow/registered-models/search', {
        query: { max_results: 100, ...(filter !== '' && { filter }), ...token },
      }),
    ))
      for (const model of registered_models) {
        if (names.has(model.name)) continue;
        names.add(model.name);
        yield { ...model, versions: await versionsOf(api, model.name, filter) };
      }
}

const onlyPrompts = "tags.`mlflow.prompt.is_prompt` = 'true'";

const Models = z.object({
  registered_models: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().default(''),
        tags: Pairs,
        aliases: z.array(z.object({ alias: z.string(), version: Long })).default([]),
      }),
    )
    .default([]),
  next_page_token,
});

async function versionsOf(api: TrackingApi, name: string, kind: string): Promise<SourceVersion[]> {
  const filter = filterOf(name, kind);
  const found: SourceVersion[] = [];
  for await (const { model_versions } of pages((token) =>
    api.json(Versions, 'GET mlflow/model-versions/search', {
      query: { ...filter, max_results: pageRows, ...token },
    }),
  ))
    found.push(
      ...model_versions
        .filter((model_Version) => model_Version.name === name)
        .map(({ name: _, version, run_id, run_link, current_stage, ...others }) => ({
          ...others,
          number: version,
          runId: run_id,
          runLink: run_link,
          stage: current_stage,
        })),
    );
  return found.toSorted((a, b) => a.number - b.number);
}

/**
 * Make a filter by name. MLflow's filters have no escape, so use quotes that the name does not contain. A name
 * with both kinds gets no filter.
 */
function filterOf(name: string, kind: string): { filter?: string } {
  const quote = [`'`, '"'].find((one) => !name.includes(one));
  const conditions = [...(quote === undefined ? [] : [`name=${quote}${name}${quote}`]), kind];
  const filter = conditions.filter((condition) => condition !== '').join(' AND ');
  return filter === '' ? {} : { filter };
}

const Versions = z.object({
  model_versions: z
    .array(
      z.object({
        name: z.string(),
        version: Long,
        description: z.string().default(''),
        source: z.string().default(''),
        run_id: z.string().default(''),
        run_link: z.string().default(''),
        current_stage: z.string().default('None'),
        tags: Pairs,
      }),
    )
    .default([]),
  next_page_token,
});
