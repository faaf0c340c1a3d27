import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { endpoint as putModel } from '../../functions/optimization/models/put-model.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { sendBlob, sendUpload } from '../../shared/client/send-upload.ts';

const fixtures = join(import.meta.dirname, '../fixtures/onnx');

/** Upload a model of the fixtures, with an evaluation set where one is named. */
export async function recordModel(
  client: Client,
  model_name: string,
  file: string,
  evaluation?: string,
): Promise<void> {
  const path = { model_name };
  for (const [role, name] of [
    ['model', file],
    ['evaluation', evaluation],
  ] as const) {
    if (name === undefined) continue;
    const bytes = await readFile(join(fixtures, name));
    const { upload } = await client.call<typeof createModel>('POST /optimization/models/{model_name}', {
      path,
      query: { file: role, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length },
    });
    if (upload === null) continue;
    await sendUpload(async () => upload, sendBlob(new Blob([bytes])));
  }
  await client.call<typeof putModel>('PUT /optimization/models/{model_name}', { path, query: {} });
}
