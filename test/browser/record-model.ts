import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { endpoint as putModel } from '../../functions/optimization/models/put-model.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { sendUpload } from '../../shared/client/send-upload.ts';
import { type ArrayToWrite, writeNpz } from '../support/onnx/write-npz.ts';
import { sendBlob } from '../support/send-blob.ts';

const fixtures = join(import.meta.dirname, '../fixtures/onnx');

/** The bytes of a model of the fixtures. */
export const modelBytes = async (file: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readFile(join(fixtures, file)));

/** An evaluation set of the model of digits, whose labels mean nothing. */
export const digitsSamples = (count: number) => ({
  image: {
    type: 'float' as const,
    dims: [count, 1, 8, 8],
    values: Float32Array.from({ length: count * 64 }, (_, index) => Math.sin(index * 1.7 + (index % 64))),
  },
  labels: {
    type: 'int64' as const,
    dims: [count],
    values: BigInt64Array.from({ length: count }, (_, index) => BigInt(index % 10)),
  },
});

export async function npzOf(
  arrays: Readonly<Record<string, ArrayToWrite>>,
): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'console-npz-'));
  try {
    await writeNpz(join(folder, 'set.npz'), arrays);
    return new Uint8Array(await readFile(join(folder, 'set.npz')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Upload a model of the fixtures, with an evaluation set where one is given. */
export async function recordModel(
  client: Client,
  model_name: string,
  file: string,
  evaluation?: Readonly<Record<string, ArrayToWrite>>,
): Promise<void> {
  const path = { model_name };
  const files = [
    { role: 'model' as const, bytes: await modelBytes(file) },
    ...(evaluation === undefined ? [] : [{ role: 'evaluation' as const, bytes: await npzOf(evaluation) }]),
  ];
  for (const { role, bytes } of files) {
    const { upload } = await client.call<typeof createModel>('POST /optimization/models/{model_name}', {
      path,
      query: { file: role, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length },
    });
    if (upload === null) continue;
    await sendUpload(async () => upload, sendBlob(new Blob([bytes])));
  }
  await client.call<typeof putModel>('PUT /optimization/models/{model_name}', { path, query: {} });
}
