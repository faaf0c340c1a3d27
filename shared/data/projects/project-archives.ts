import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../core/formats.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { projectExists, projectPrefix } from './project.ts';
import { type Purge, purgeKey, recordPurge } from './purge.ts';

/** How far an export has come: what it reads next of the things that it will pack. */
const cursorSchema = () =>
  z.object({
    stage: z.enum(['project', 'sources', 'datasets', 'experiments', 'models', 'registry', 'pack']),
    /** Number of the experiment, model or registered model that is next, from 1. */
    number: z.number().int().default(1),
    /** Kind of the files to read next; if absent, the documents are next. */
    kind: z.enum(['artifact', 'checkpoint']).optional(),
    /** Path, or digest, of the last file that is done. */
    after: z.string().optional(),
  });
export type ExportCursor = z.infer<ReturnType<typeof cursorSchema>>;

const projectExport = recordType('project-export', () =>
  z.object({
    export_id: Ulid,
    project_id: Ulid,
    status: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED']),
    /** Reason in words; null while the export runs and if it succeeded. */
    status_reason: z.string().nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** When the archive is deleted. */
    expires_at: Timestamp,
    cursor: cursorSchema(),
    /** Ids of the lists of everything read so far, in their order. */
    pieces: z.array(z.string()),
    files: z.number().int(),
    /** Bytes of the archive; 0 before it is packed. */
    bytes: z.number().int(),
    /** Id of the multipart upload that stores the archive. */
    upload_id: z.string().nullable(),
    /** Passes that failed for no known reason, one after the other. */
    failures: z.number().int(),
    /** Experiments that are not contained: they have not ended, or are marked as deleted. */
    left_out: z.number().int(),
    /** Ids of those that have not ended, the first hundred. */
    unfinished: z.array(Ulid).default([]),
    /** Members of the project, who are not contained. */
    members: z.number().int().default(0),
    /** Names of the secret variables, whose values are not contained. */
    secrets: z.array(z.string()),
    version: z.number().int(),
  }),
);
/** The latest export of a project. */
export type ProjectExport = z.infer<typeof projectExport.schema>;

export const parseExport = projectExport.parse;

/** Partition of a project's export. */
export const exportPartition = (project_id: string): string => `EXPORT#${project_id}`;
const exportKey = (project_id: string): Key => ({ pk: exportPartition(project_id), sk: 'EXPORT' });

/** Everything an export keeps in the bucket lies under this prefix. */
export const exportPrefix = ({ project_id, export_id }: ProjectExport): string =>
  `${projectPrefix(project_id)}exports/${export_id}/`;
/** What an export needs until the archive is packed. */
export const exportWorkPrefix = (value: ProjectExport): string => `${exportPrefix(value)}work/`;
export const exportObject = (value: ProjectExport): string => `${exportPrefix(value)}archive.zip`;

export async function findExport(
  records: TableReader<'records'>,
  project_id: string,
): Promise<ProjectExport | undefined> {
  const item = await records.get(exportKey(project_id));
  return item && projectExport.parse(item);
}

/**
 * Record an export that begins, in place of the previous one; `also` holds the purge of what it will leave.
 * @throws ConditionFailedError where another one began meanwhile, or the project is gone
 */
export async function beginExport(
  records: TableWriter<'records'>,
  value: ProjectExport,
  previous: ProjectExport | undefined,
  also: readonly Write[],
): Promise<void> {
  const key = exportKey(value.project_id);
  await records.write(
    projectExists(value.project_id),
    {
      put: projectExport.item(key, value),
      if:
        previous === undefined
          ? { exists: false }
          : { equals: { export_id: previous.export_id, version: previous.version } },
    },
    putArchiveWork({ id: value.export_id, of: 'export', subject: key }),
    ...also,
  );
}

/**
 * Store how far an export has come. Once it has ended it is no longer worked on.
 * @param purge the purge of what it leaves, which is put off
 * @returns it as it is stored
 * @throws ConditionFailedError where somebody else went on with it, or it is gone
 */
export async function saveExport(
  records: TableWriter<'records'>,
  previous: ProjectExport,
  change: Partial<ProjectExport>,
  ...also: readonly Write[]
): Promise<ProjectExport> {
  const value = { ...previous, ...change, version: previous.version + 1 };
  const { export_id, version } = previous;
  await records.write(
    { put: projectExport.item(exportKey(value.project_id), value), if: { equals: { export_id, version } } },
    ...(value.status === 'RUNNING' ? [] : [removeArchiveWork(export_id)]),
    ...also,
  );
  return value;
}

const projectImport = recordType('project-import', () =>
  z.object({
    import_id: Ulid,
    /** Who imports, and owns what is imported. */
    user_id: Ulid,
    /** SHA-256 of the archive. */
    sha256: Sha256,
    size: z.number().int(),
    status: z.enum(['WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
    /** Reason in words; null if there is none. */
    status_reason: z.string().nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** Id of the project that the import makes. The project does not exist before `recording`. */
    project_id: Ulid,
    /**
     * `checking` reads the archive and stores its files; `recording` makes the project and what is in it; `removing` takes
     * that away again, where it cannot be recorded to its end.
     */
    stage: z.enum(['checking', 'recording', 'removing']),
    /** Files that are done in this stage, or experiments, models and registered models. */
    done: z.number().int(),
    /** The name of the project in the archive, where its owner has a project of that name, and the one that it got. */
    project_renamed: z.object({ name: z.string(), imported_as: z.string() }).nullable().default(null),
    /** Registered models whose names were taken, the first hundred, and the names that they have. */
    renamed: z.array(z.object({ name: z.string(), registered_as: z.string() })).default([]),
    /** Id of the multipart upload; null if the archive is sent in one piece. */
    upload_id: z.string().nullable(),
    part_bytes: z.number().int(),
    /** Passes that failed for no known reason, one after the other. */
    failures: z.number().int(),
    /** Time at which the store deletes the record, in epoch seconds. */
    ttl: z.number().int(),
    version: z.number().int(),
  }),
);
/** Registered models that the record of an import names. */
export const maxRenamed = 100;
/** An import of an archive by a user: the latest of this archive. */
export type ProjectImport = z.infer<typeof projectImport.schema>;

const importKey = (user_id: string, sha256: string): Key => ({ pk: `IMPORTS#${user_id}`, sk: sha256 });
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

const work = recordType('archive-work', () =>
  z.object({
    of: z.enum(['export', 'import']),
    /** Record of the export or import. */
    subject: z.object({ pk: z.string(), sk: z.string() }),
  }),
);
/** An export or import that is not finished. `id` is the id of that export or import. */
export type ArchiveWork = z.infer<typeof work.schema> & { id: string };

/** The list of exports and imports that are not finished. */
export const unfinishedArchives: WatchedList<'records'> = { table: 'records', partitions: ['ARCHIVES'] };

export const archiveWorkKey = (id: string): Key => ({ pk: unfinishedArchives.partitions[0], sk: id });

const putArchiveWork = ({ id, ...value }: ArchiveWork): Write => ({
  put: work.item(archiveWorkKey(id), value),
});
export const removeArchiveWork = (id: string): Write => ({ delete: archiveWorkKey(id) });

/** A page of what is not finished, oldest first. */
export const listArchiveWork = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ArchiveWork>> =>
  readWatched(records, unfinishedArchives, (item) => ({ ...work.parse(item), id: item.sk }), position, 25);
