import * as z from 'zod';
import { Timestamp } from '../core/formats.ts';
import { pageOf, readPage } from './read-page.ts';
import { recordType } from './record.ts';
import type { Item, Key, Page, TableReader, Write } from './table.ts';
import type { UnreadableRecordError } from './unreadable-record.ts';

/** The state of the program's repository, where the client sends it. */
export const Git = z.object({
  commit: z.string(),
  branch: z.string().nullable(),
  /** Whether there were changes that no commit holds. */
  dirty: z.boolean().nullable(),
});
export type Git = z.infer<typeof Git>;

const fields = recordType('experiment-fields', () =>
  z.object({
    name: z.string(),
    /** Markdown. */
    note: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    /** Written once each. */
    params: z.record(z.string(), z.string()),
    git: Git.nullable(),
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
/** What people and programs say of an experiment, beside what its job records. */
export type ExperimentFields = z.infer<typeof fields.schema>;

/**
 * Everything by which experiments of a project are searched and compared and which their own records do not hold. It
 * lies apart from them, because a running job writes its record often, and by experiment, so that one query reads it for
 * a page of them.
 */
export const trackingPartition = (project_id: string): string => `TRACKING#${project_id}`;

/** Beginning of the sort keys of one experiment. */
export const trackingPrefix = (experiment_id: string): string => `${experiment_id}#`;

const fieldsKey = (project_id: string, experiment_id: string): Key => ({
  pk: trackingPartition(project_id),
  sk: `${trackingPrefix(experiment_id)}FIELDS`,
});

/** Most bytes of an experiment's note, tags and params together: they are one item, which takes 400 KB. */
export const fieldsMaxBytes = 300_000;

/** Bytes that count against {@link fieldsMaxBytes}. */
export const bytesOfFields = ({ note, tags, params }: ExperimentFields): number =>
  Buffer.byteLength(JSON.stringify([note, tags, params]));

export const putFields = (
  project_id: string,
  experiment_id: string,
  value: ExperimentFields,
  previous: ExperimentFields | undefined,
): Write => ({
  put: fields.item(fieldsKey(project_id, experiment_id), value),
  if: previous === undefined ? { exists: false } : { equals: { version: previous.version } },
});

/** The fields of an experiment; undefined where a release made it that kept none, and none were given since. */
export async function findFields(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<ExperimentFields | undefined> {
  const item = await records.get(fieldsKey(project_id, experiment_id));
  return item && fields.parse(item);
}

/** What is tracked of one experiment. */
export interface Tracking {
  fields: ExperimentFields | undefined;
}

/** What is tracked of experiments, by their ids, and the records of it that cannot be read. */
export interface Tracked {
  of: ReadonlyMap<string, Tracking>;
  unreadable: readonly UnreadableRecordError[];
}

const nothing: Tracking = { fields: undefined };

function gather(items: readonly Item[]): Tracked {
  const found = new Map<string, Tracking>();
  const unreadable: UnreadableRecordError[] = [];
  for (const item of items) {
    const [experiment_id = ''] = item.sk.split('#');
    const read = readPage(pageOf(item), fields.parse);
    unreadable.push(...(read.unreadable ?? []));
    found.set(experiment_id, { fields: read.items[0] });
  }
  return { of: found, unreadable };
}

/** What is tracked of one experiment. @throws UnreadableRecordError */
export async function readTracking(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<Tracking> {
  const pk = trackingPartition(project_id);
  const { items } = await records.query({ pk, prefix: trackingPrefix(experiment_id) });
  const { of, unreadable } = gather(items);
  for (const error of unreadable) throw error;
  return of.get(experiment_id) ?? nothing;
}

/** Sorts behind every sort key of an experiment. */
const behind = '~';

/** What is tracked of a page of experiments, newest first: one query, and as many more as their size asks for. */
export async function readTrackingOf(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<Tracked> {
  const [newest, oldest] = [experiment_ids[0], experiment_ids.at(-1)];
  if (newest === undefined || oldest === undefined) return gather([]);
  const found: Item[] = [];
  let after: string | undefined = `${trackingPrefix(newest)}${behind}`;
  while (after !== undefined && after > oldest) {
    const page: Page<Item> = await records.query({
      pk: trackingPartition(project_id),
      after,
      descending: true,
      limit: 2 * experiment_ids.length,
    });
    found.push(...page.items);
    after = page.next;
  }
  return gather(found.filter(({ sk }) => sk > oldest));
}
