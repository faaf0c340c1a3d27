import { experimentsPartition, parseExperiment } from '../../data/experiments/experiment.ts';
import { listLoggedModels } from '../../data/experiments/logged-model.ts';
import { readTrackingOf } from '../../data/experiments/tracking.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import {
  type ModelVersion,
  modelVersions,
  parseModelVersion,
  parseRegisteredModel,
  type RegisteredModel,
  registeredModels,
} from '../../data/models/registered-model.ts';
import { listProjectReports, maxReports } from '../../data/projects/report.ts';
import { listSchedules, maxSchedules } from '../../data/schedules/schedule.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import type { Item, Page, TableReader } from '../../data/table/table.ts';
import { idsIn } from '../references.ts';
import type { Contained, ContainedRegistered, ExportContext } from './export-context.ts';

/**
 * Find the experiments and models for an export: all that have ended, also running ones that clients record, and
 * none marked as deleted. Add the registered models that have versions of these, and all reports and schedules.
 */
export async function findContained(
  { records }: Pick<ExportContext, 'records'>,
  project_id: string,
): Promise<Contained & LeftOut> {
  const experiments: string[] = [];
  const unfinished: string[] = [];
  let left_out = 0;
  for await (const page of pagesOf((after) =>
    records.query({ pk: experimentsPartition(project_id), after, limit: 100 }),
  )) {
    const read = page.items.map(parseExperiment);
    const newestFirst = read.map(({ experiment_id }) => experiment_id).reverse();
    const tracked = await readTrackingOf(records, project_id, newestFirst);
    for (const error of tracked.unreadable) throw error;
    for (const { experiment_id, kind, status } of read) {
      const isDeleted = tracked.of.get(experiment_id)?.fields?.deleted_at !== undefined;
      const isUnfinished = kind !== 'logged' && !isFinal(status);
      if (isUnfinished && unfinished.length < maxNamed) unfinished.push(experiment_id);
      if (isDeleted || isUnfinished) left_out += 1;
      else experiments.push(experiment_id);
    }
  }
  const logged = await oldestFirst((page) => listLoggedModels(records, project_id, page));
  const models = logged.flatMap(({ model_id, deleted_at }) => (deleted_at === undefined ? [model_id] : []));
  const registered = await findRegistered(records, [...experiments, ...models]);
  const reports = await oldestFirst((page) =>
    listProjectReports(records, project_id, { ...page, limit: maxReports }),
  );
  const schedules = await oldestFirst((page) =>
    listSchedules(records, project_id, { ...page, limit: maxSchedules }),
  );
  return {
    ...{ experiments, models, registered, left_out, unfinished },
    reports: reports.map(({ report_id }) => report_id),
    schedules: schedules.map(({ schedule_id }) => schedule_id),
  };
}

/** Read all pages of a list that begins with the newest. @throws UnreadableRecordError */
async function oldestFirst<T>(list: (page: { after: string | undefined }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pagesOf((after) => list({ after }))) {
    for (const error of page.unreadable ?? []) throw error;
    items.push(...page.items);
  }
  return items.reverse();
}

/** Experiments that an export leaves out. */
interface LeftOut {
  /** Number of experiments that have not ended, or are marked as deleted. */
  left_out: number;
  /** The first hundred of them that have not ended. */
  unfinished: string[];
}

/** Maximum number of skipped experiments that the receipt of an export names. */
const maxNamed = 100;

/**
 * Find the registered models with versions of these experiments or logged models, sorted by name. The registry
 * belongs to no project, so the whole registry is read. An unreadable record only matters if it belongs to one of
 * these.
 * @throws UnreadableRecordError
 */
async function findRegistered(
  records: Records,
  contained: readonly string[],
): Promise<ContainedRegistered[]> {
  const ids = new Set(contained);
  const isOf = (text: string): boolean => idsIn(text).some((id) => ids.has(id));
  const belongs = ({ run_id, model_id, source, location }: ModelVersion): boolean =>
    [run_id, model_id, source, location].some(isOf);
  const versions = new Map<string, number[]>();
  if (ids.size === 0) return [];
  for await (const item of itemsOf(records, modelVersions)) {
    if (!isOf(JSON.stringify(item))) continue;
    const version = parseModelVersion(item);
    if (!belongs(version)) continue;
    const { registration_id, number } = version;
    versions.set(registration_id, [...(versions.get(registration_id) ?? []), number]);
  }
  if (versions.size === 0) return [];
  const models: RegisteredModel[] = [];
  for await (const item of itemsOf(records, registeredModels))
    if (versions.has(String(item['registration_id']))) models.push(parseRegisteredModel(item));
  return withNames(models).map(([archived_name, { registration_id, name }]) => ({
    registration_id,
    name,
    archived_name,
    versions: versions.get(registration_id) ?? [],
  }));
}

type Records = TableReader<'records'>;

async function* itemsOf(records: Records, pk: string): AsyncGenerator<Item> {
  for await (const page of pagesOf((after) => records.query({ pk, after }))) {
    yield* page.items;
  }
}

/** Assign unique names in the archive. An imported model may have had the name of another model in its archive. */
function withNames(models: readonly RegisteredModel[]): [name: string, model: RegisteredModel][] {
  const own = new Set(models.map(({ name }) => name));
  return models
    .map((model): [string, RegisteredModel] => {
      const { name, archived_name = name } = model;
      return [archived_name !== name && own.has(archived_name) ? name : archived_name, model];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
