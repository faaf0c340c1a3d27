import type { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { sendBlob, sendUpload } from '../../../shared/client/send-upload.ts';
import type { SourceArchive } from './source-archive.ts';

/** Make an archive the current source of a project. @throws ProblemError | UnreachableError */
export async function uploadSource(
  client: Client,
  project_id: string,
  { bytes, sha256 }: SourceArchive,
): Promise<void> {
  const path = { project_id };
  const query = { sha256, size: bytes.length };
  const target = async () => {
    const route = 'POST /projects/{project_id}/source';
    const { upload } = await client.call<typeof requestSourceUpload>(route, { path, query });
    if (upload === null) throw new Error('the service wants the source in parts');
    return upload;
  };
  await sendUpload(target, sendBlob(new Blob([bytes])));
  await client.call<typeof putSource>('PUT /projects/{project_id}/source', { path, query: { sha256 } });
}
