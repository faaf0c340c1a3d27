import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { findImport, type ProjectImport } from '../../../shared/data/projects/project-archives.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** An import in a response. */
export const ImportAnswer = z
  .object({
    import_id: Ulid,
    sha256: Sha256,
    size: z.number().int(),
    status: z
      .enum(['WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED'])
      .describe('`WAITING` means that the upload is not complete.'),
    status_reason: z.string().nullable().describe('Reason of a failure; null otherwise.'),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    project_id: Ulid.nullable().describe(
      'The new project; null until the archive has been checked, and if the import failed.',
    ),
    done: z
      .number()
      .int()
      .describe(
        'Number of files checked, or of experiments, models, reports and schedules recorded, so far.',
      ),
    schedules: z
      .number()
      .int()
      .describe(
        'Number of schedules of the project. They come paused; who resumes one, it runs as that user.',
      ),
    project_renamed: z
      .object({ name: z.string(), imported_as: z.string() })
      .nullable()
      .describe(
        'Name of the project in the archive and its new name, if you already have a project of that name; null otherwise.',
      ),
    renamed: z
      .array(z.object({ name: z.string(), registered_as: z.string() }))
      .describe('New names of registered models whose names were taken: the first hundred.'),
  })
  .meta({ id: 'ProjectImport' });

/** Largest archive that can be imported, in bytes. */
export const importMaxBytes = 1_000_000_000_000;

/** Query of an import. The digest of the archive identifies the import. */
export const importedSha256 = z.strictObject({
  sha256: Sha256.describe('SHA-256 digest of the archive, for which the upload was requested.'),
});

export const showImport = (value: ProjectImport): z.input<typeof ImportAnswer> => ({
  ...value,
  status_reason: value.status === 'FAILED' ? value.status_reason : null,
  project_id: value.stage === 'recording' && value.status !== 'FAILED' ? value.project_id : null,
});

/** Return a user's import of an archive. @throws ServiceError `not-found` */
export async function requireImport(
  records: TableReader<'records'>,
  user_id: string,
  sha256: string,
): Promise<ProjectImport> {
  const found = await findImport(records, user_id, sha256);
  if (found !== undefined) return found;
  throw new ServiceError(
    'not-found',
    'You have no import of an archive with this SHA-256. Request an upload with POST to this path.',
  );
}
