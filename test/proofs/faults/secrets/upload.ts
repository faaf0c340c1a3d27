import { createHash } from 'node:crypto';
import type { Witness } from './witness.ts';

/** Upload bytes by presigned URL, as a client does. */
export async function upload(
  witness: Witness,
  token: string,
  path: string,
  bytes: Buffer,
  more = {},
): Promise<void> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const query = { sha256, size: String(bytes.length), ...more };
  const { upload } = await witness.must('POST', path, { token, query });
  const put = await fetch(upload.url, {
    method: upload.method,
    headers: upload.headers,
    body: new Uint8Array(bytes),
  });
  if (!put.ok) throw new Error(`the upload was refused: ${await put.text()}`);
}
