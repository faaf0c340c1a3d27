import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { create } from 'tar';
import type { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { sendUpload } from '../../../shared/client/send-upload.ts';
import { sendBlob } from '../../support/send-blob.ts';

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

export interface SourceArchive {
  bytes: Uint8Array<ArrayBuffer>;
  sha256: string;
}

/** A folder's Python files and requirements as tar.gz, reproducible: the same files make the same bytes. */
export async function packSource(folder: string): Promise<SourceArchive> {
  const files = (await readdir(folder)).filter((name) => /\.(?:py|txt)$/.test(name)).sort();
  const packed = await buffer(create({ cwd: folder, gzip: true, portable: true, mtime: new Date(0) }, files));
  const bytes = new Uint8Array(packed);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}
