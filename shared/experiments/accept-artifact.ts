import type { ObjectWriter } from '../aws/objects.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Artifact } from '../data/experiments/artifact.ts';
import { type ArtifactHome, findAnnounced, putClientArtifact } from '../data/experiments/client-artifact.ts';
import { ProjectBytesError, requireProjectBytes } from '../data/projects/project.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../data/table/table.ts';
import type { Ambient } from '../http/definition/endpoint-context.ts';
import { purgeInRequest } from '../purge/purge-in-request.ts';

/**
 * Record an announced file whose object has arrived, and remove the file that it replaces.
 * @returns undefined if the upload was not announced, or was accepted or removed since
 */
export async function acceptArtifact(
  context: Uploading,
  home: ArtifactHome,
  file: Omit<Artifact, 'created_at'>,
): Promise<Artifact | undefined> {
  const { records, newId, now, settings } = context;
  const value = { ...file, created_at: now().toISOString() };
  const accepted = await retryOnConflict(async () => {
    const announced_at = await findAnnounced(records, file.object);
    if (announced_at === undefined) return undefined;
    const maxProjectBytes = settings.limits.projectBytes;
    const limits = { newId, now, maxProjectBytes };
    return { purge: await putClientArtifact(records, home, value, announced_at, limits) };
  });
  if (accepted?.purge !== undefined) await purgeInRequest(context, accepted.purge);
  return accepted && value;
}

/** Services that the upload of a client's file uses. */
export interface Uploading extends Pick<Ambient, 'now' | 'newId' | 'settings' | 'log'> {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
}

/** @throws ServiceError `conflict` if the project has no room for these bytes */
export async function requireArtifactRoom(
  { records, settings }: Pick<Uploading, 'records' | 'settings'>,
  project_id: string,
  bytes: number,
): Promise<void> {
  await requireProjectBytes(records, project_id, bytes, settings.limits.projectBytes).catch(
    (error: unknown) => {
      throw error instanceof ProjectBytesError ? new ServiceError('conflict', error.message) : error;
    },
  );
}
