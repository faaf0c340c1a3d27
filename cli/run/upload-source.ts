import type { endpoint as putSource } from '../../functions/projects/put-source.endpoint.ts';
import type { endpoint as readSource } from '../../functions/projects/read-source.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../functions/projects/request-source-upload.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { sendFile } from '../../shared/client/node/send-file.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { sendUpload } from '../../shared/client/send-upload.ts';
import type { PackedSource } from './pack-files.ts';

interface Uploading {
  signal: AbortSignal;
  onProgress(bytes: number): void;
}

async function currentSha256(client: Client, project_id: string): Promise<string | undefined> {
  try {
    const path = { project_id };
    return (await client.call<typeof readSource>('GET /projects/{project_id}/source', { path })).sha256;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Makes an archive the source of a project. Nothing is sent where the service has these bytes already.
 *
 * @returns whether anything was sent
 */
export async function uploadSource(
  client: Client,
  project_id: string,
  { path: file, size, sha256 }: PackedSource,
  { signal, onProgress }: Uploading,
): Promise<boolean> {
  const path = { project_id };
  const accept = () =>
    client.call<typeof putSource>('PUT /projects/{project_id}/source', { path, query: { sha256 }, signal });
  const current = await currentSha256(client, project_id);
  if (current === sha256) return false;
  if (current !== undefined) {
    // An earlier source again, such as that of another branch.
    const isKnown = await accept().then(
      () => true,
      (error: unknown) => {
        if (error instanceof ProblemError && error.status === 409) return false;
        throw error;
      },
    );
    if (isKnown) return false;
  }
  const target = async () => {
    const { upload } = await client.call<typeof requestSourceUpload>('POST /projects/{project_id}/source', {
      path,
      query: { sha256, size },
      signal,
    });
    return upload;
  };
  await sendUpload(target, sendFile({ path: file, size, signal, onProgress }), signal);
  await accept();
  return true;
}
