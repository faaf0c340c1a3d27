import { createHash } from 'node:crypto';
import type { endpoint as putArtifact } from '../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import type { endpoint as requestUpload } from '../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Store files as artifacts of a logged run. */
export async function recordFiles(
  client: Client,
  run: { project_id: string; experiment_id: string },
  files: Readonly<Record<string, string | Bytes>>,
): Promise<void> {
  const store = async ([name, content]: [string, string | Bytes]): Promise<void> => {
    const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content;
    const path = { ...run, path: name };
    const { upload, upload_id } = await client.call<typeof requestUpload>(
      'POST /projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}',
      { path, query: { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length } },
    );
    await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
    await client.call<typeof putArtifact>(
      'PUT /projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}',
      { path, query: { upload_id } },
    );
  };
  const all = Object.entries(files);
  for (let first = 0; first < all.length; first += 8)
    await Promise.all(all.slice(first, first + 8).map(store));
}
