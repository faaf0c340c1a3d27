import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { findExport, type ProjectExport } from '../../../shared/data/projects/project-archives.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

const count = z.number().int();

/** An export in a response. */
export const ExportAnswer = z
  .object({
    export_id: Ulid,
    project_id: Ulid,
    status: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED']),
    status_reason: z.string().nullable().describe('Reason of a failure; null otherwise.'),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    expires_at: Timestamp.describe('Time at which the archive is removed.'),
    files: count.describe('Files of the project in the archive so far.'),
    bytes: count.describe('Size of the archive; 0 before it is packed.'),
    left_out: count.describe(
      'Number of experiments left out because they have not ended or are marked as deleted.',
    ),
    unfinished: z
      .array(Ulid)
      .describe(
        'IDs of the first hundred experiments that have not ended. An export after their end includes them.',
      ),
    members: count.describe(
      'Number of members. They are left out, because their accounts belong to this deployment.',
    ),
    links: count.describe(
      'Number of links. They are left out, because their addresses belong to this deployment.',
    ),
    secrets: z.array(z.string()).describe('Names of the secret variables, whose values are left out.'),
  })
  .meta({ id: 'ProjectExport' });

export const showExport = (value: ProjectExport): z.input<typeof ExportAnswer> => value;

/** Return the latest export of a project. @throws ServiceError `not-found` if there is none, or it has expired */
export async function requireExport(
  records: TableReader<'records'>,
  project_id: string,
  now: Date,
): Promise<ProjectExport> {
  const found = await findExport(records, project_id);
  if (found !== undefined && Date.parse(found.expires_at) > now.getTime()) return found;
  throw new ServiceError(
    'not-found',
    'This project has no export, or its archive has expired. Start one with POST to this path.',
  );
}
