import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { breathe } from '../../core/stop-signal.ts';
import {
  allSummaries,
  firstPartKey,
  mayContinue,
  parseMetricPart,
  readMetricParts,
  trackingPartition,
  trackingPrefix,
} from '../metrics/metric-summaries.ts';
import type { MetricSummary } from '../metrics/metric-summary.ts';
import type { UnreadableRecordError } from '../table/item.ts';
import { recordType } from '../table/record.ts';
import {
  type Item,
  type Key,
  type Page,
  pageOf,
  readPage,
  type TableReader,
  type Write,
} from '../table/table.ts';

/** Tracking data of one experiment. */
export interface Tracking {
  fields: ExperimentFields | undefined;
  metrics: ReadonlyMap<string, MetricSummary>;
}

const fields = recordType('experiment-fields', () =>
  z.object({
    name: z.string(),
    /** Markdown. */
    note: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    /** Each param can be written only once. */
    params: z.record(z.string(), z.string()),
    git: Git.nullable(),
    /** Time at which it was marked as deleted. The mark can be undone. Absent if it is not marked. */
    deleted_at: Timestamp.optional(),
    datasets: z.array(DatasetInput).optional(),
    models_read: z.array(ModelLink).optional(),
    models_made: z.array(ModelLink).optional(),
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);

/** Fields of an experiment that users and programs set. Its job records the other fields. */
export type ExperimentFields = z.infer<typeof fields.schema>;

/** State of the program's Git repository, if the client sends it. */
export const Git = z.object({
  commit: z.string(),
  branch: z.string().nullable(),
  /** Whether the working tree had uncommitted changes. */
  dirty: z.boolean().nullable(),
});
export type Git = z.infer<typeof Git>;

/**
 * Data set that an experiment has read, as reported by an MLflow client. The client chooses the texts of `schema`
 * and `profile`.
 */
export const DatasetInput = z.object({
  name: z.string(),
  digest: z.string(),
  source_type: z.string(),
  source: z.string(),
  schema: z.string().optional(),
  profile: z.string().optional(),
  /**
   * Where its source, schema and profile are, if they are long: object, index in it, and bytes in an answer. `source` is
   * empty then.
   */
  texts: z.object({ id: z.string(), at: z.number().int(), bytes: z.number().int() }).optional(),
  tags: z.record(z.string(), z.string()),
});
export type DatasetInput = z.infer<typeof DatasetInput>;

/** Model that an experiment has read or made, as reported by an MLflow client. */
export const ModelLink = z.object({ model_id: z.string(), step: z.number() });
export type ModelLink = z.infer<typeof ModelLink>;

/**
 * Maximum bytes of an experiment's note, tags, params, data sets and models together. They share one item, whose
 * limit is 400 KB.
 */
export const fieldsMaxBytes = 300_000;

/** Return the bytes that count against {@link fieldsMaxBytes}. */
export const bytesOfFields = ({
  note,
  tags,
  params,
  datasets,
  models_read,
  models_made,
}: ExperimentFields): number =>
  Buffer.byteLength(JSON.stringify([note, tags, params, datasets, models_read, models_made]));

export const putFields = (
  project_id: string,
  experiment_id: string,
  value: ExperimentFields,
  previous: ExperimentFields | undefined,
): Write => ({
  put: fields.item(fieldsKey(project_id, experiment_id), value),
  if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
});

export const fieldsKey = (project_id: string, experiment_id: string): Key => ({
  pk: trackingPartition(project_id),
  sk: `${trackingPrefix(experiment_id)}FIELDS`,
});

/**
 * Return the fields of an experiment. Return undefined if an earlier release made it without fields and nobody has
 * set them since.
 */
export const findFields = (
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<ExperimentFields | undefined> => fields.find(records, fieldsKey(project_id, experiment_id));

/** Return the fields of experiments of any projects, in the given order. */
export async function findFieldsOfEach(
  records: TableReader<'records'>,
  experiments: readonly { project_id: string; experiment_id: string }[],
): Promise<(ExperimentFields | undefined)[]> {
  const found: (ExperimentFields | undefined)[] = [];
  for (let from = 0; from < experiments.length; from += fieldsAtOnce) {
    const some = experiments.slice(from, from + fieldsAtOnce);
    const items = await records.batchGet(
      some.map(({ project_id, experiment_id }) => fieldsKey(project_id, experiment_id)),
    );
    found.push(...items.map((item) => item && fields.parse(item)));
  }
  return found;
}

/** Maximum items of fields in one read. A response holds 16 MB, and one item may have 300 KB. */
const fieldsAtOnce = 50;

/** Tracking data of experiments by id, and the unreadable records. */
export interface Tracked {
  of: ReadonlyMap<string, Tracking>;
  unreadable: readonly UnreadableRecordError[];
}

/** Tracking data of an experiment of a release without tracking. */
export const nothingTracked: Tracking = { fields: undefined, metrics: new Map() };

/** Read the tracking data of one experiment. @throws UnreadableRecordError */
export async function readTracking(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<Tracking> {
  const [fields, parts] = await Promise.all([
    findFields(records, project_id, experiment_id),
    readMetricParts(records, project_id, experiment_id),
  ]);
  return { fields, metrics: allSummaries(parts) };
}

/**
 * Read the tracking data of a page of experiments, newest first. It takes one query, and more if the data are
 * large.
 */
export async function readTrackingOf(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<Tracked> {
  const [newest, oldest] = [experiment_ids[0], experiment_ids.at(-1)];
  if (newest === undefined || oldest === undefined) return gather([]);
  const found: Item[] = [];
  let after: string | undefined = `${trackingPrefix(newest)}${behind}`;
  do {
    const page: Page<Item> = await records.query({
      pk: trackingPartition(project_id),
      after,
      above: oldest,
      descending: true,
    });
    found.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return gather(found);
}

/** Parse the records of experiments. Each may be large, so others get their turns. */
async function gather(items: readonly Item[]): Promise<Tracked> {
  const found = new Map<string, Tracking>();
  const unreadable: UnreadableRecordError[] = [];
  for (const item of items) {
    await breathe();
    const [experiment_id = '', mark] = item.sk.split('#');
    const present = found.get(experiment_id) ?? nothingTracked;
    const read = readPage(
      pageOf(item),
      (one): Partial<Tracking> =>
        mark === 'FIELDS'
          ? { fields: fields.parse(one) }
          : { metrics: new Map([...present.metrics, ...parseMetricPart(one).summaries]) },
    );
    unreadable.push(...(read.unreadable ?? []));
    found.set(experiment_id, { ...present, ...read.items[0] });
  }
  return { of: found, unreadable };
}

/** Suffix that sorts after every sort key of an experiment. */
const behind = '~';

/**
 * Read the tracking data of experiments of any projects. It takes one read per 25 experiments, and one more for
 * each with very many metrics.
 */
export async function readTrackingOfEach(
  records: TableReader<'records'>,
  experiments: readonly { project_id: string; experiment_id: string }[],
): Promise<Tracked> {
  const found: Item[] = [];
  for (let from = 0; from < experiments.length; from += trackedAtOnce) {
    const keys = experiments
      .slice(from, from + trackedAtOnce)
      .flatMap(({ project_id, experiment_id }) => [
        fieldsKey(project_id, experiment_id),
        firstPartKey(project_id, experiment_id),
      ]);
    found.push(...(await records.batchGet(keys)).filter((item): item is Item => item !== undefined));
  }
  const tracked = await gather(found);
  const of = new Map(tracked.of);
  for (const { project_id, experiment_id } of experiments) {
    const present = of.get(experiment_id);
    if (present === undefined || !mayContinue({ summaries: present.metrics })) continue;
    const metrics = allSummaries(await readMetricParts(records, project_id, experiment_id));
    of.set(experiment_id, { ...present, metrics });
  }
  return { of, unreadable: tracked.unreadable };
}

/** Maximum experiments per read of tracking data. A response holds 16 MB, and one experiment may have 450 KB. */
const trackedAtOnce = 25;
