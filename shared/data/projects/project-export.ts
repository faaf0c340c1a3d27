import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { putArchiveWork, removeArchiveWork } from './archive-work.ts';
import { projectExists, projectPrefix } from './project.ts';

/** How far an export has come: what is read next, of what is packed in the end. */
const cursorSchema = () =>
  z.object({
    stage: z.enum(['project', 'sources', 'datasets', 'experiments', 'models', 'registry', 'pack']),
    /** Number of the experiment, model or registered model that is next, from 1. */
    number: z.number().int().default(1),
    /** Files of that one which are next; without it its documents are. */
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
    /** In words; null while it runs and where it succeeded. */
    status_reason: z.string().nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    /** When the archive goes. */
    expires_at: Timestamp,
    cursor: cursorSchema(),
    /** Ids of the lists of what was read so far, in their order. */
    pieces: z.array(z.string()),
    files: z.number().int(),
    /** Of the archive; 0 before it is packed. */
    bytes: z.number().int(),
    /** Of the upload in parts by which it is packed. */
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
export const exportKey = (project_id: string): Key => ({ pk: exportPartition(project_id), sk: 'EXPORT' });

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
