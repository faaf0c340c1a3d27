import type { endpoint as putSource } from '../../functions/projects/uploads/put-source.endpoint.ts';
import type { endpoint as readSource } from '../../functions/projects/uploads/read-source.endpoint.ts';
import type { endpoint as requestSourceUpload } from '../../functions/projects/uploads/request-source-upload.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { partedBytes } from '../../shared/client/node/send-by-ticket.ts';
import type { DigestedFile } from '../upload/digest-file.ts';
import type { Upload } from '../upload/send-unless-known.ts';

/** The upload of an archive as the source of a project. */
export function sourceUpload(
  client: Client,
  project_id: string,
  { sha256, size }: DigestedFile,
  signal: AbortSignal,
): Upload {
  const path = { project_id };
  return {
    async current() {
      const route = 'GET /projects/{project_id}/source';
      return (await client.call<typeof readSource>(route, { path, signal })).sha256;
    },
    accept() {
      const route = 'PUT /projects/{project_id}/source';
      return client.call<typeof putSource>(route, { path, query: { sha256 }, signal });
    },
    async ticket() {
      const route = 'POST /projects/{project_id}/source';
      const multipart = size >= partedBytes;
      const query = { sha256, size, ...(multipart && { multipart }) };
      return client.call<typeof requestSourceUpload>(route, { path, query, signal });
    },
  };
}
