import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import {
  readRows,
  readWatched,
  type UnreadableRow,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import type { Condition } from '../table/condition.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';

const purge = recordType('purge', () =>
  z.object({
    /** A ULID, or the object of an upload that was announced: one is on its way only once. */
    purge_id: z.string(),
    created_at: Timestamp,
    target: targetSchema(),
    /** When all has been removed but something may come back until then, and is to be looked at again; else null. */
    again_at: Timestamp.nullable(),
    /** Of a whole project: its experiments and their jobs go too. */
    project_id: Ulid.optional(),
    /** When the object of an upload that was announced began to be removed: it can no longer be accepted. */
    removing_at: Timestamp.optional(),
  }),
);

/**
 * A delete that has been answered and whose remains are still to be removed. It is written in the same transaction
 * as the delete itself and removed last of all, so a crash anywhere only makes the removal begin again.
 */
export type Purge = z.infer<typeof purge.schema>;

const targetSchema = () =>
  z.object({
    /** Partitions of the records table, or the part of one whose sort keys start with `prefix`. */
    partitions: z.array(z.object({ pk: z.string(), prefix: z.string().optional() })),
    /** Key prefixes of the bucket. */
    prefixes: z.array(z.string()),
    /** Uploads in parts that are ended. */
    uploads: z.array(z.object({ object: z.string(), upload_id: z.string() })).optional(),
    /** Of a job that has ended: the objects under the prefix that none of the job's files is. */
    leftovers: z.object({ job_id: Ulid, prefix: z.string() }).optional(),
    /** Project of such a job: the packed environments that none of the project's is. */
    packs_of: Ulid.optional(),
    announced: announcedSchema().optional(),
  });

/** An upload that was announced: its object goes unless what would be accepted by then is on record. */
const announcedSchema = () =>
  z.discriminatedUnion('of', [
    z.object({
      of: z.literal('project'),
      object: z.string(),
      /** Key of the record by which it is accepted. */
      blob: z.object({ pk: z.string(), sk: z.string() }),
      /** Null for an upload in one piece. */
      parts: uploadParts().nullable().default(null),
    }),
    z.object({
      /** A file of a client's experiment or model, of which the record that accepts it takes this one away. */
      of: z.literal('artifact'),
      object: z.string(),
      /** Of an upload in parts. */
      upload_id: z.string().nullable(),
    }),
    z.object({
      of: z.literal('model'),
      object: z.string(),
      model_name: z.string(),
      /** Of an upload in parts. */
      upload_id: z.string().nullable(),
    }),
  ]);

const uploadParts = () =>
  z.object({
    upload_id: z.string(),
    /** Of each part but the last. */
    part_bytes: z.number().int(),
    /** Of the whole file. */
    size: z.number().int(),
  });

/** An upload in parts. */
export type UploadParts = z.infer<ReturnType<typeof uploadParts>>;

export type Announced = z.infer<ReturnType<typeof announcedSchema>>;

export type PurgeTarget = z.infer<ReturnType<typeof targetSchema>>;

/** The list of purges that are not finished. */
export const unfinishedPurges: WatchedList<'records'> = { table: 'records', partitions: ['PURGES'] };
export const purgeKey = (purge_id: string): Key => ({ pk: unfinishedPurges.partitions[0], sk: purge_id });

export const parsePurge = purge.parse;

/** The purge of what a delete leaves, from now on. */
export const newPurge = (
  { newId, now }: { newId: () => string; now: () => Date },
  target: PurgeTarget,
): Purge => ({ purge_id: newId(), created_at: now().toISOString(), again_at: null, target });

export const recordPurge = (value: Purge): Write => ({ put: purge.item(purgeKey(value.purge_id), value) });

/** The write that replaces a purge by one that is due later; refused once it has been done. */
export const putOffPurge = (value: Purge): Write => ({ ...recordPurge(value), if: { exists: true } });

/** Purges that are not finished, oldest first. */
export const listPurges = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<Purge>> => readWatched(records, unfinishedPurges, purge.parse, position, 25);

/** Notes that nothing is left for now, and when to look again. */
export async function postponePurge(
  records: TableWriter<'records'>,
  purge_id: string,
  again_at: string,
): Promise<void> {
  await records.write({ update: purgeKey(purge_id), change: { set: { again_at } }, if: { exists: true } });
}

export async function finishPurge(records: TableWriter<'records'>, purge_id: string): Promise<void> {
  await records.write({ delete: purgeKey(purge_id) });
}

/**
 * The write that has an announced upload removed after a day, unless it is withdrawn. Announcing it again begins the day
 * anew. Refused while its object is being removed.
 * @param since the announcement that must still be the last one; null where there must be none
 */
export const announce = (announced: Announced, now: Date, since?: Purge | null): Write => ({
  put: purge.item(purgeKey(announced.object), {
    purge_id: announced.object,
    created_at: now.toISOString(),
    target: { partitions: [], prefixes: [], announced },
    again_at: new Date(now.getTime() + announcedSeconds * 1000).toISOString(),
  }),
  if: {
    absent: ['removing_at'],
    ...(since === null && { exists: false }),
    ...(since != null && announcedThen(since.created_at)),
  },
});

/** Seconds after which an upload that was announced and not accepted is removed; its URL is long dead by then. */
const announcedSeconds = 24 * 60 * 60;

/** Condition that an upload is still the one that was announced then, and not one of the same object since. */
const announcedThen = (created_at: string): Condition => ({ equals: { created_at } });

/** The write by which an upload is accepted: refused once its object is being removed, also if it was announced anew. */
export const acceptAnnounced = (object: string, created_at: string): Write => ({
  delete: purgeKey(object),
  if: { ...announcedThen(created_at), absent: ['removing_at'] },
});

/** The write that begins an upload's removal: refused where it was accepted, or announced again. */
export const closeAnnounced = ({ purge_id, created_at }: Purge, now: Date): Write => ({
  update: purgeKey(purge_id),
  change: { set: { removing_at: now.toISOString() } },
  if: announcedThen(created_at),
});

/** The write by which an upload that was removed is forgotten: refused where it was announced anew. */
export const forgetAnnounced = ({ purge_id, created_at }: Purge): Write => ({
  delete: purgeKey(purge_id),
  if: announcedThen(created_at),
});

/** The write by which an upload that is on record is no longer looked at. */
export const withdrawAnnounced = (object: string): Write => ({ delete: purgeKey(object) });

/**
 * What is marked as deleted, by the time at which it goes. Beside each row lies one that expires at that time, by which
 * the table's stream starts the purge; until then nothing looks at the list. A row stays when its mark is taken away:
 * when its time comes, it no longer says the same as the record.
 */
export const retainedList: WatchedList<'records'> = {
  table: 'records',
  partitions: ['RETAINED'],
  startsByExpiry: true,
};

const row = recordType('retained', () =>
  z.object({
    project_id: Ulid,
    /** Null where the whole project is marked, or a logged model. */
    experiment_id: Ulid.nullable(),
    /** The logged model that is marked; absent otherwise. */
    model_id: Ulid.optional(),
    /** Of the mark. */
    deleted_at: Timestamp,
  }),
);
export type Retained = z.infer<typeof row.schema> & { key: Key };

/** The writes that go before a mark, so that no mark is without its end. */
export function retain(marked: z.infer<typeof row.schema>): Write[] {
  const { project_id, experiment_id, model_id, deleted_at } = marked;
  const until = new Date(Date.parse(deleted_at) + retentionDays * 86_400_000);
  const sk = `${until.toISOString()}#${project_id}#${experiment_id ?? model_id ?? ''}`;
  const ttl = Math.ceil(until.getTime() / 1000);
  return [
    { put: row.item({ pk, sk: `${rowPrefix}${sk}` }, marked) },
    { put: clock.item({ pk, sk: `CLOCK#${sk}` }, { ttl }) },
  ];
}

/** Days for which what an MLflow client has marked as deleted can be restored. */
const retentionDays = 30;

const pk = retainedList.partitions[0];
const rowPrefix = 'UNTIL#';

const clock = recordType('retention-clock', () => z.object({ ttl: z.number().int() }));

/** Look at a row that cannot go yet again after an hour. */
export const lookAgain = ({ key }: Retained, now: Date): Write => ({
  put: clock.item(
    { pk, sk: `CLOCK#${key.sk.slice(rowPrefix.length)}` },
    { ttl: Math.ceil(now.getTime() / 1000) + 3600 },
  ),
});

/** A page of the rows whose time has come. A row that cannot be read spoils no other. */
export async function listDue(
  records: TableReader<'records'>,
  now: Date,
  after: string | undefined,
): Promise<DuePage> {
  const page = await records.query({ pk, prefix: rowPrefix, after, limit: 25 });
  const due = page.items.filter(({ sk }) => sk < `${rowPrefix}${now.toISOString()}`);
  const next = due.length < page.items.length ? undefined : page.next;
  return { ...readRows(due, (item) => ({ ...row.parse(item), key: { pk, sk: item.sk } })), next };
}

/** Rows whose time has come. */
interface DuePage {
  /** The earliest first. */
  items: Retained[];
  unreadable: UnreadableRow[];
  /** Where the next page begins; undefined where none is due any more. */
  next: string | undefined;
}

export const dropRetained = ({ key }: Retained): Write => ({ delete: key });
