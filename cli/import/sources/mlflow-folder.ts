import { type FileHandle, lstat, open, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { CliError } from '../../cli-error.ts';
import type { Pair, RunSource, SourceExperiment, SourceModel, SourcePoint, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { ModelsByRun } from './logged-models.ts';
import { filesIn, isFolder, localArtifacts, omitElsewhere, tracesOfMlflow } from './mlflow-artifacts.ts';
import { linksElsewhere, Omissions } from './omissions.ts';
import { RunRecords } from './run-records.ts';

/** Read the folder `mlruns` of MLflow's file store. */
export function mlflowFolder(folder: string): RunSource {
  const unread: string[] = [];
  const beside = new Omissions();
  const omissions = new RunRecords<Omissions>();
  /** Read what a folder describes. One that is damaged does not keep the others back. */
  const read = <T>(described: Promise<T>): Promise<T | undefined> =>
    described.catch((error: unknown) => {
      unread.push((error as Error).message);
      return undefined;
    });
  const places = new Map<string, string>();
  const placeOf = (id: string): string => places.get(id) ?? '';
  const experimentFolders = async (): Promise<string[]> => [
    ...(await foldersIn(folder)),
    ...(await foldersIn(folder, '.trash')),
  ];
  const runPlaces = new Map<string, string>();
  const runPlace = ({ id }: SourceRun): string => runPlaces.get(id) ?? '';

  async function readRun(experiment: string, place: string): Promise<SourceRun | undefined> {
    const run = await meta(RunMeta, place);
    const id = run?.run_id ?? run?.run_uuid;
    if (run === undefined || id === undefined) return undefined;
    runPlaces.set(id, place);
    const status = typeof run.status === 'number' ? statuses[run.status - 1] : run.status;
    return {
      id,
      name: run.run_name ?? '',
      status: status ?? 'RUNNING',
      user: run.user_id ?? '',
      start: run.start_time ?? undefined,
      end: run.end_time ?? undefined,
      isDeleted: run.lifecycle_stage === 'deleted',
      params: await pairsIn(join(place, 'params')),
      tags: await pairsIn(join(place, 'tags')),
      datasets: await datasetsOf(experiment, place),
      artifactUri: run.artifact_uri,
      state: `ended ${run.end_time ?? ''}`,
    };
  }

  return {
    async *experiments(): AsyncGenerator<SourceExperiment> {
      for (const place of await experimentFolders()) {
        if (basename(place) === 'models' || basename(place) === '.trash') continue;
        const experiment = await read(meta(ExperimentMeta, place));
        if (experiment === undefined) continue;
        places.set(experiment.experiment_id, place);
        const tags = await pairsIn(join(place, 'tags'));
        const isDeleted = experiment.lifecycle_stage === 'deleted';
        yield { id: experiment.experiment_id, name: experiment.name, tags, isDeleted };
      }
    },
    async *runs({ id }) {
      const place = placeOf(id);
      const traced = await tracesIn(place);
      const models = await loggedModelsIn(place, beside);
      for (const below of await foldersIn(place)) {
        const run = await read(readRun(place, below));
        if (run === undefined) {
          if (runName.test(basename(below))) unread.push(`${below} has no meta.yaml`);
          continue;
        }
        models.describe(run);
        const ofRun = new Omissions();
        const count = traced.get(run.id);
        if (count !== undefined) ofRun.add(tracesOfMlflow, count);
        traced.delete(run.id);
        const links = await linksIn(below);
        if (links > 0) ofRun.add(linksElsewhere, links);
        omitElsewhere(run, ofRun);
        omissions.set(run, ofRun);
        yield run;
      }
      for (const count of traced.values()) beside.add(`${tracesOfMlflow} without a run`, count);
    },
    async *points(run) {
      const metrics = join(runPlace(run), 'metrics');
      for await (const { path } of filesIn(metrics))
        yield* pointsIn(join(metrics, path), path, omissions.of(run));
    },
    ...localArtifacts(folder, runPlace),
    async *models() {
      for (const place of await foldersIn(folder, 'models')) {
        const model = await read(readModel(place));
        if (model !== undefined) yield model;
      }
    },
    omitted: (run) => omissions.of(run).counts,
    omittedBeside: () => beside.counts,
    unread: () => unread,
  };
}

/** MLflow names the folder of a run by its id. */
const runName = /^[0-9a-f]{32}$/;

/** Return the models that the runs of an experiment have logged. */
async function loggedModelsIn(experiment: string, beside: Omissions): Promise<ModelsByRun> {
  const models = new ModelsByRun(beside);
  for (const folder of await foldersIn(experiment, 'models')) {
    const model = await meta(LoggedModelMeta, folder).catch(() => null);
    // Metrics of a model of another experiment have a folder without a description.
    if (model === undefined) continue;
    if (model === null) {
      beside.add('logged models that are damaged');
      continue;
    }
    const { name, artifact_location, source_run_id } = model;
    const [params, tags] = await Promise.all(['params', 'tags'].map((kind) => pairsIn(join(folder, kind))));
    models.add(source_run_id ?? '', {
      ...{ id: basename(folder), name, artifactUri: artifact_location },
      ...{ params: params ?? [], tags: tags ?? [] },
    });
  }
  return models;
}

/** Return the number of traces of the runs of an experiment, by their ids; of those without one by a blank one. */
async function tracesIn(experiment: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const folder of await foldersIn(experiment, 'traces')) {
    const path = join(folder, 'request_metadata');
    const file = join(path, 'mlflow.sourceRun');
    const isFile = await lstat(file).then(
      (status) => status.isFile(),
      () => false,
    );
    const run = isFile && (await isFolder(path)) ? (await readFile(file, 'utf8')).trim() : '';
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  return counts;
}

/** Return the number of links below a folder, which are not followed. */
async function linksIn(folder: string): Promise<number> {
  let count = 0;
  for await (const { isFile } of filesBelow(folder)) if (!isFile) count += 1;
  return count;
}

/** Return the folders in a folder, or in one below it. */
async function foldersIn(folder: string, below?: string): Promise<string[]> {
  const parent = below === undefined ? folder : join(folder, below);
  if (below !== undefined && !(await isFolder(parent))) return [];
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name))
    .sort();
}

async function meta<S extends z.ZodType>(schema: S, folder: string): Promise<z.output<S> | undefined> {
  const file = join(folder, 'meta.yaml');
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  try {
    return schema.parse(parse(content));
  } catch (error) {
    const fault = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new CliError(`${file} is not in MLflow's format: ${fault}`);
  }
}

// The layout of `mlruns`: <experiment>/<run>/{meta.yaml,params,metrics,tags,artifacts}, deleted experiments in
// `.trash`, the registry in `models`. Each param, tag or metric has its own file, in subfolders if its name
// contains slashes.

const text = z.coerce.string();

const LoggedModelMeta = z.object({
  name: text.default('model'),
  source_run_id: text.nullish(),
  artifact_location: text.default(''),
});

const RunMeta = z.object({
  run_id: text.optional(),
  run_uuid: text.optional(),
  run_name: text.nullish(),
  user_id: text.nullish(),
  status: z.union([z.string(), z.number()]),
  start_time: z.number().nullish(),
  end_time: z.number().nullish(),
  lifecycle_stage: z.string(),
  artifact_uri: z.string().default(''),
});

/** Run statuses by their numbers in `meta.yaml`. */
const statuses = ['RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED'];

async function pairsIn(folder: string): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for await (const { path } of filesIn(folder))
    pairs.push({ key: path, value: await readFile(join(folder, path), 'utf8') });
  return pairs;
}

const DatasetMeta = z.object({
  name: text,
  digest: text,
  source_type: text,
  source: text,
  schema: text.nullish(),
  profile: text.nullish(),
});

/** Read the data sets of a run. Its inputs name them, and the experiment has their descriptions. */
async function datasetsOf(experiment: string, run: string): Promise<object[]> {
  const found: object[] = [];
  for (const input of await foldersIn(run, 'inputs')) {
    const link = await meta(
      z.object({ source_id: text, tags: z.record(z.string(), text).default({}) }),
      input,
    );
    const dataset = link && (await meta(DatasetMeta, join(experiment, 'datasets', basename(link.source_id))));
    if (link === undefined || dataset === undefined) continue;
    const { schema, profile, ...known } = dataset;
    const tags = Object.entries(link.tags).map(([key, value]) => ({ key, value }));
    found.push({ tags, dataset: { ...known, ...(schema && { schema }), ...(profile && { profile }) } });
  }
  return found;
}

const ExperimentMeta = z.object({ experiment_id: text, name: text, lifecycle_stage: z.string() });

const pointsAtOnce = 5000;

async function* pointsIn(file: string, key: string, omissions: Omissions): AsyncGenerator<SourcePoint[]> {
  let points: SourcePoint[] = [];
  await using handle = await open(file);
  const { whole, isTorn } = await wholeLines(handle);
  if (isTorn) omissions.add('lines that are no points');
  if (whole === 0) return;
  for await (const line of handle.readLines({ start: 0, end: whole - 1 })) {
    if (line === '') continue;
    const [timestamp = '', value = '', step = '0'] = line.split(' ');
    const point = { key, value: numberOf(value), timestamp: Number(timestamp), step: Number(step) };
    if (value === '' || [point.timestamp, point.step, point.value].some(Number.isNaN)) {
      omissions.add('lines that are no points');
      continue;
    }
    points.push(point);
    if (points.length < pointsAtOnce) continue;
    yield points;
    points = [];
  }
  if (points.length > 0) yield points;
}

/** Return the bytes of a file up to its last line feed: a program that was killed has torn what follows. */
async function wholeLines(handle: FileHandle): Promise<{ whole: number; isTorn: boolean }> {
  const { size } = await handle.stat();
  const tail = Buffer.alloc(Math.min(size, maxLine));
  await handle.read(tail, 0, tail.length, size - tail.length);
  const whole = size - tail.length + tail.lastIndexOf('\n') + 1;
  return { whole, isTorn: whole < size };
}

/** Bytes of a point are far fewer. */
const maxLine = 1000;

/** Parse a number. Python writes `nan`, `inf` and `-inf`. */
function numberOf(written: string): number | string {
  if (/^[+-]?(nan|inf|infinity)$/i.test(written))
    return /nan/i.test(written) ? 'NaN' : written.startsWith('-') ? '-Infinity' : 'Infinity';
  return Number(written);
}

const ModelMeta = z.object({ name: text, description: text.nullish() });

const VersionMeta = z.object({
  version: z.coerce.number().int(),
  description: text.nullish(),
  source: text.nullish(),
  run_id: text.nullish(),
  run_link: text.nullish(),
  current_stage: text.nullish(),
});

async function readModel(folder: string): Promise<SourceModel | undefined> {
  const model = await meta(ModelMeta, folder);
  if (model === undefined) return undefined;
  const versions = [];
  for (const below of await foldersIn(folder)) {
    if (!basename(below).startsWith('version-')) continue;
    const version = await meta(VersionMeta, below);
    if (version === undefined) continue;
    versions.push({
      number: version.version,
      description: version.description ?? '',
      source: version.source ?? '',
      runId: version.run_id ?? '',
      runLink: version.run_link ?? '',
      stage: version.current_stage ?? 'None',
      tags: await pairsIn(join(below, 'tags')),
    });
  }
  const aliases = await pairsIn(join(folder, 'aliases'));
  return {
    name: model.name,
    description: model.description ?? '',
    tags: await pairsIn(join(folder, 'tags')),
    aliases: aliases.map(({ key, value }) => ({ alias: key, version: Number(value) })),
    versions: versions
      .filter(({ stage }) => stage !== 'Deleted_Internal')
      .toSorted((a, b) => a.number - b.number),
  };
}
