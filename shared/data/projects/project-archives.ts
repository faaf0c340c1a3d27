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
import { WriteLabel } from '../table/write-label.ts';
import { projectExists, projectPrefix } from './project.ts';
import { type Purge, purgeKey, recordPurge } from './purge.ts';

/** Position of an export: the next data that it reads. */
const cursorSchema = () =>
  z.object({
    stage: z.enum([
      'project',
      'sources',
      'datasets',
      'experiments',
      'models',
      'registry',
      'reports',
      'schedules',
      'pack',
    ]),
    /** Number of the next experiment, model, registered model, report or schedule, from 1. */
    number: z.number().int().default(1),
    /** Kind of the files to read next; if absent, the documents are next. */
    kind: z.enum(['artifact', 'checkpoint']).optional(),
    /** Path or digest of the last completed file. */
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
    /** Time at which the archive is deleted. */
    expires_at: Timestamp,
    cursor: cursorSchema(),
    /** Ids of the lists of all data read so far, in order. */
    pieces: z.array(z.string()),
    files: z.number().int(),
    /** Bytes of the archive. 0 before it is packed. */
    bytes: z.number().int(),
    /** Id of the multipart upload that stores the archive. */
    upload_id: z.string().nullable(),
    /** Consecutive passes that failed for an unknown reason. */
    failures: z.number().int(),
    /** Number of omitted experiments: unfinished or marked as deleted. */
    left_out: z.number().int(),
    /** Ids of the unfinished experiments, at most 100. */
    unfinished: z.array(Ulid).default([]),
    /** Number of members of the project. The archive omits them. */
    members: z.number().int().default(0),
    /** Number of links to the project. The archive omits them. */
    links: z.number().int().default(0),
    /** Names of the secret variables. The archive omits their values. */
    secrets: z.array(z.string()),
    version: z.number().int(),
  }),
);
/** Latest export of a project. */
export type ProjectExport = z.infer<typeof projectExport.schema>;

export const parseExport = projectExport.parse;

export const exportPartition = (project_id: string): string => `EXPORT#${project_id}`;
const exportKey = (project_id: string): Key => ({ pk: exportPartition(project_id), sk: 'EXPORT' });

/** Return the bucket prefix of all objects of an export. */
export const exportPrefix = ({ project_id, export_id }: ProjectExport): string =>
  `${projectPrefix(project_id)}exports/${export_id}/`;
/** Return the bucket prefix of the temporary objects of an export. */
export const exportWorkPrefix = (value: ProjectExport): string => `${exportPrefix(value)}work/`;
export const exportObject = (value: ProjectExport): string => `${exportPrefix(value)}archive.zip`;

export const findExport = (
  records: TableReader<'records'>,
  project_id: string,
): Promise<ProjectExport | undefined> => projectExport.find(records, exportKey(project_id));

/**
 * Record a new export. It replaces the previous one. `also` contains the purge of its objects.
 * @throws ConditionFailedError if another export began since, or the project is gone
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
 * Store the progress of an export. Once it has ended, remove it from the list of unfinished work.
 * @param also further writes of the same transaction
 * @returns the stored export
 * @throws ConditionFailedError if another process continued it, or it is gone
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
    /** User who imports, and who owns the imported project. */
    user_id: Ulid,
    /** SHA-256 of the archive. */
    sha256: Sha256,
    size: z.number().int(),
    status: z.enum(['WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED']),
    /** Reason in words; null if there is none. */
    status_reason: z.string().nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** Id of the project that the import creates. The project does not exist before `recording`. */
    project_id: Ulid,
    /**
     * `checking` reads the archive and stores its files. `recording` creates the project and its contents.
     * `removing` undoes that if the recording cannot be completed.
     */
    stage: z.enum(['checking', 'recording', 'removing']),
    /** Number of completed files in this stage, or of experiments, models, reports and schedules. */
    done: z.number().int(),
    /** Name of the project in the archive and its new name, if its owner already has a project of that name. */
    project_renamed: z.object({ name: z.string(), imported_as: z.string() }).nullable().default(null),
    /** Registered models whose names were taken, with their new names. At most 100. */
    renamed: z.array(z.object({ name: z.string(), registered_as: z.string() })).default([]),
    /** Number of schedules in the archive. They come paused. */
    schedules: z.number().int().default(0),
    /** Id of the multipart upload; null if the archive is sent in one piece. */
    upload_id: z.string().nullable(),
    part_bytes: z.number().int(),
    /** Consecutive passes that failed for an unknown reason. */
    failures: z.number().int(),
    /** Epoch seconds after which DynamoDB deletes the record. */
    ttl: z.number().int(),
    version: z.number().int(),
  }),
);
/** Maximum registered models in the record of an import. */
export const maxRenamed = 100;
/** Latest import of an archive by a user. */
export type ProjectImport = z.infer<typeof projectImport.schema>;

const importKey = (user_id: string, sha256: string): Key => ({ pk: `IMPORTS#${user_id}`, sk: sha256 });
export const parseImport = projectImport.parse;

/**
 * Return the bucket key of the archive. It is under the prefix of the new project, so the delete of the project
 * removes it.
 */
export const importObject = (project_id: string): string => `${projectPrefix(project_id)}import/archive.zip`;

export const findImport = (
  records: TableReader<'records'>,
  user_id: string,
  sha256: string,
): Promise<ProjectImport | undefined> => projectImport.find(records, importKey(user_id, sha256));

const asItWas = (previous: ProjectImport | undefined) =>
  previous === undefined
    ? { exists: false }
    : { equals: { import_id: previous.import_id, version: previous.version } };

/**
 * Record an import before the upload of its archive, with the purge of its objects if it creates no project.
 * @throws ConditionFailedError if another import was recorded since
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
 * Store the progress of an import. It is on the list of unfinished work while it is RUNNING.
 * @param also further writes of the same transaction
 * @throws ConditionFailedError if another process continued it, or it is gone
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
    importProgress.on({ put: projectImport.item(key, value), if: asItWas(previous) }),
    ...(begins ? [putArchiveWork({ id: import_id, of: 'import', subject: key })] : []),
    ...(ends ? [removeArchiveWork(import_id)] : []),
    ...also,
  );
  return value;
}

/** The write of {@link saveImport} that fails if another process has continued the import. */
export const importProgress = new WriteLabel('progress of the import');

/** Build the check that no other process has continued the import. It keeps a slow pass from repeating work. */
export const importUnmoved = (value: ProjectImport): Write => ({
  check: importKey(value.user_id, value.sha256),
  if: asItWas(value),
});

/** Build the write that keeps the imported data, which the project now owns. It fails if they were purged. */
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
/** Unfinished export or import. `id` is its id. */
export type ArchiveWork = z.infer<typeof work.schema> & { id: string };

/** List of unfinished exports and imports. */
export const unfinishedArchives: WatchedList<'records'> = { table: 'records', partitions: ['ARCHIVES'] };

export const archiveWorkKey = (id: string): Key => ({ pk: unfinishedArchives.partitions[0], sk: id });

const putArchiveWork = ({ id, ...value }: ArchiveWork): Write => ({
  put: work.item(archiveWorkKey(id), value),
});
export const removeArchiveWork = (id: string): Write => ({ delete: archiveWorkKey(id) });

/** Return a page of unfinished exports and imports, oldest first. */
export const listArchiveWork = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ArchiveWork>> =>
  readWatched(records, unfinishedArchives, (item) => ({ ...work.parse(item), id: item.sk }), position, 25);
