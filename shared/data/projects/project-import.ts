import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { putArchiveWork, removeArchiveWork } from './archive-work.ts';
import { projectPrefix } from './project.ts';
import { type Purge, purgeKey, recordPurge } from './purge.ts';

const projectImport = recordType('project-import', () =>
  z.object({
    import_id: Ulid,
    /** Who imports, and owns what is imported. */
    user_id: Ulid,
    /** Of the archive. */
    sha256: Sha256,
    size: z.number().int(),
    status: z.enum(['WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
    /** In words; null where there is nothing to say. */
    status_reason: z.string().nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** The project that it makes; there is none of this id before `recording`. */
    project_id: Ulid,
    /**
     * `checking` reads the archive and stores its files; `recording` makes the project and what is in it; `removing` takes
     * that away again, where it cannot be recorded to its end.
     */
    stage: z.enum(['checking', 'recording', 'removing']),
    /** Files that are done in this stage, or experiments, models and registered models. */
    done: z.number().int(),
    /** Registered models whose names were taken, the first hundred, and the names that they have. */
    renamed: z.array(z.object({ name: z.string(), registered_as: z.string() })).default([]),
    /** Of an upload in parts; null for one in one piece. */
    upload_id: z.string().nullable(),
    part_bytes: z.number().int(),
    /** Passes that failed for no known reason, one after the other. */
    failures: z.number().int(),
    /** The store forgets it then; in epoch seconds. */
    ttl: z.number().int(),
    version: z.number().int(),
  }),
);
/** Registered models that the record of an import names. */
export const maxRenamed = 100;
/** An import of an archive by a user: the latest of this archive. */
export type ProjectImport = z.infer<typeof projectImport.schema>;

export const importKey = (user_id: string, sha256: string): Key => ({ pk: `IMPORTS#${user_id}`, sk: sha256 });
export const parseImport = projectImport.parse;

/** Where the archive lies: below the project that it is to make, so that it goes with it. */
export const importObject = (project_id: string): string => `${projectPrefix(project_id)}import/archive.zip`;

export async function findImport(
  records: TableReader<'records'>,
  user_id: string,
  sha256: string,
): Promise<ProjectImport | undefined> {
  const item = await records.get(importKey(user_id, sha256));
  return item && projectImport.parse(item);
}

const asItWas = (previous: ProjectImport | undefined) =>
  previous === undefined
    ? { exists: false }
    : { equals: { import_id: previous.import_id, version: previous.version } };

/**
 * Record an import whose archive is to be uploaded, with the purge of what it leaves unless it makes a project.
 * @throws ConditionFailedError where another one was recorded meanwhile
 */
export async function announceImport(
  records: TableWriter<'records'>,
  value: ProjectImport,
  previous: ProjectImport | undefined,
  purge: Purge,
): Promise<void> {
  const put = projectImport.item(importKey(value.user_id, value.sha256), value);
  await records.write({ put, if: asItWas(previous) }, recordPurge(purge));
}

/**
 * Store how far an import has come; it is worked on while it is RUNNING.
 * @param also further writes of the same transaction
 * @throws ConditionFailedError where somebody else went on with it, or it is gone
 */
export async function saveImport(
  records: TableWriter<'records'>,
  previous: ProjectImport,
  change: Partial<ProjectImport>,
  ...also: readonly Write[]
): Promise<ProjectImport> {
  const value = { ...previous, ...change, version: previous.version + 1 };
  const { import_id, user_id, sha256 } = value;
  const key = importKey(user_id, sha256);
  const begins = previous.status !== 'RUNNING' && value.status === 'RUNNING';
  const ends = previous.status === 'RUNNING' && value.status !== 'RUNNING';
  await records.write(
    { put: projectImport.item(key, value), if: asItWas(previous) },
    ...(begins ? [putArchiveWork({ id: import_id, of: 'import', subject: key })] : []),
    ...(ends ? [removeArchiveWork(import_id)] : []),
    ...also,
  );
  return value;
}

/** A write that succeeds only while nobody has gone on with the import: part of what a slow pass must not do again. */
export const importUnmoved = (value: ProjectImport): Write => ({
  check: importKey(value.user_id, value.sha256),
  if: asItWas(value),
});

/** The write that keeps what an import has stored: the project owns it now. Refused once it was purged. */
export const keepImported = (import_id: string): Write => ({
  delete: purgeKey(import_id),
  if: { exists: true },
});
