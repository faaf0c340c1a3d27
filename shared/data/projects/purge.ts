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
    /** A ULID, or the object key of an announced upload. Each object has at most one announcement. */
    purge_id: z.string(),
    created_at: Timestamp,
    target: targetSchema(),
    /** Time of the next check, if everything is removed but data may come back until then. Otherwise null. */
    again_at: Timestamp.nullable(),
    /** Project that is purged completely, with its experiments and their jobs. */
    project_id: Ulid.optional(),
    /** Time at which the removal of an announced upload's object began. The upload can no longer be accepted. */
    removing_at: Timestamp.optional(),
  }),
);

/**
 * Pending purge of a delete that was already answered. The transaction of the delete writes it, and the purge
 * removes it last. So after a crash the removal begins again.
 */
export type Purge = z.infer<typeof purge.schema>;

const targetSchema = () =>
  z.object({
    /** Partitions of the records table. With `prefix`, only the items whose sort keys start with it. */
    partitions: z.array(z.object({ pk: z.string(), prefix: z.string().optional() })),
    /** Key prefixes of the bucket. */
    prefixes: z.array(z.string()),
    /** Multipart uploads to abort. */
    uploads: z.array(z.object({ object: z.string(), upload_id: z.string() })).optional(),
    /** Objects of an ended job: those under the prefix that are no file of the job. */
    leftovers: z.object({ job_id: Ulid, prefix: z.string() }).optional(),
    /** Project of such a job. Remove its packed environments that no record names. */
    packs_of: Ulid.optional(),
    /** Such a job, if it is a training: end the experiments that its program began and did not end. */
    begun_by: z.object({ project_id: Ulid, experiment_id: Ulid }).optional(),
    announced: announcedSchema().optional(),
  });

/** Announced upload. The purge removes its object unless the upload was accepted. */
const announcedSchema = () =>
  z.discriminatedUnion('of', [
    z.object({
      of: z.literal('project'),
      object: z.string(),
      /** Key of the record that an accept writes. */
      blob: z.object({ pk: z.string(), sk: z.string() }),
      /** Null for an upload in one piece. */
      parts: uploadParts().nullable().default(null),
    }),
    z.object({
      /** File of a client's experiment or model. The transaction that accepts the file deletes this purge. */
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
    /** Bytes of each part except the last. */
    part_bytes: z.number().int(),
    /** Bytes of the whole file. */
    size: z.number().int(),
  });

/** Multipart upload. */
export type UploadParts = z.infer<ReturnType<typeof uploadParts>>;

export type Announced = z.infer<ReturnType<typeof announcedSchema>>;

export type PurgeTarget = z.infer<ReturnType<typeof targetSchema>>;

/** List of unfinished purges. */
export const unfinishedPurges: WatchedList<'records'> = { table: 'records', partitions: ['PURGES'] };
export const purgeKey = (purge_id: string): Key => ({ pk: unfinishedPurges.partitions[0], sk: purge_id });

export const parsePurge = purge.parse;

/** Create the purge of a delete. */
export const newPurge = (
  { newId, now }: { newId: () => string; now: () => Date },
  target: PurgeTarget,
): Purge => ({ purge_id: newId(), created_at: now().toISOString(), again_at: null, target });

export const recordPurge = (value: Purge): Write => ({ put: purge.item(purgeKey(value.purge_id), value) });

/** Build the write that replaces a purge with a later one. It fails if the purge is already finished. */
export const putOffPurge = (value: Purge): Write => ({ ...recordPurge(value), if: { exists: true } });

/**
 * Return a page of unfinished purges, oldest first. Announced uploads stay for a day, and each pass reads them: as many as
 * one request returns (1 MB).
 */
export const listPurges = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<Purge>> => readWatched(records, unfinishedPurges, purge.parse, position, 2_000);

/** Record that everything is removed for now, and the time of the next check. */
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
 * Build the write that announces an upload. The purge removes the upload after a day unless it is accepted or
 * withdrawn. A repeated announcement restarts the day. The write fails while the object is being removed.
 * @param since announcement that must still be the latest; null if none may exist
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

/**
 * Seconds after which an announced upload is removed if it was not accepted. Its presigned URL has expired long
 * before.
 */
const announcedSeconds = 24 * 60 * 60;

/** Condition that this is still the announcement of that time, and not a later one of the same object. */
const announcedThen = (created_at: string): Condition => ({ equals: { created_at } });

/** Build the write that accepts an upload. It fails if its object is being removed, or it was announced again. */
export const acceptAnnounced = (object: string, created_at: string): Write => ({
  delete: purgeKey(object),
  if: { ...announcedThen(created_at), absent: ['removing_at'] },
});

/**
 * Build the write that begins the removal of an upload. It fails if the upload was accepted or announced again.
 */
export const closeAnnounced = ({ purge_id, created_at }: Purge, now: Date): Write => ({
  update: purgeKey(purge_id),
  change: { set: { removing_at: now.toISOString() } },
  if: announcedThen(created_at),
});

/** Build the write that deletes the purge of a removed upload. It fails if the upload was announced again. */
export const forgetAnnounced = ({ purge_id, created_at }: Purge): Write => ({
  delete: purgeKey(purge_id),
  if: announcedThen(created_at),
});

/** Build the write that deletes the purge of a recorded upload. */
export const withdrawAnnounced = (object: string): Write => ({ delete: purgeKey(object) });

/**
 * Rows of records marked as deleted, by the time of their purge. Each row has a second row that expires at that
 * time. Its expiry starts the purge through the table's stream; until then nothing reads the list. If a mark is
 * removed, its row stays; at its time, it no longer matches the record.
 */
export const retainedList: WatchedList<'records'> = {
  table: 'records',
  partitions: ['RETAINED'],
  startsByExpiry: true,
};

const row = recordType('retained', () =>
  z.object({
    project_id: Ulid,
    /** Null if the whole project or a logged model is marked. */
    experiment_id: Ulid.nullable(),
    /** Marked logged model. Absent if another record is marked. */
    model_id: Ulid.optional(),
    /** Time of the mark. */
    deleted_at: Timestamp,
  }),
);
export type Retained = z.infer<typeof row.schema> & { key: Key };

/** Build the writes that schedule the purge. Do them before the mark, so every mark has a purge. */
export function retain(marked: z.infer<typeof row.schema>): Write[] {
  const { project_id, experiment_id, model_id, deleted_at } = marked;
  const until = retainedUntil(deleted_at);
  const sk = `${until.toISOString()}#${project_id}#${experiment_id ?? model_id ?? ''}`;
  const ttl = Math.ceil(until.getTime() / 1000);
  return [
    { put: row.item({ pk, sk: `${rowPrefix}${sk}` }, marked) },
    { put: clock.item({ pk, sk: `CLOCK#${sk}` }, { ttl }) },
  ];
}

/** Days during which records that are marked as deleted can be restored. */
const retentionDays = 30;

/** Return the time until which a record that was marked then can be restored. */
export const retainedUntil = (deleted_at: string): Date =>
  new Date(Date.parse(deleted_at) + retentionDays * 86_400_000);

const pk = retainedList.partitions[0];
const rowPrefix = 'UNTIL#';

const clock = recordType('retention-clock', () => z.object({ ttl: z.number().int() }));

/** Build the write that checks a row again after an hour, because it cannot be purged yet. */
export const lookAgain = ({ key }: Retained, now: Date): Write => ({
  put: clock.item(
    { pk, sk: `CLOCK#${key.sk.slice(rowPrefix.length)}` },
    { ttl: Math.ceil(now.getTime() / 1000) + 3600 },
  ),
});

/** Return a page of the due rows. An unreadable row does not affect the others. */
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

/** Page of due rows. */
interface DuePage {
  /** Due rows, earliest first. */
  items: Retained[];
  unreadable: UnreadableRow[];
  /** Start of the next page. Undefined if no more rows are due. */
  next: string | undefined;
}

export const dropRetained = ({ key }: Retained): Write => ({ delete: key });
