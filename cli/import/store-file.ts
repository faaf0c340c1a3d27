import type { Readable } from 'node:stream';
import * as z from 'zod';
import { CliError } from '../cli-error.ts';
import type { TrackingApi } from './tracking-api.ts';

/**
 * Store a file of known size under an artifact address. Hold at most one part in memory.
 * @throws CliError if the stream has another size
 */
export async function storeFile(
  api: TrackingApi,
  { folder, name, size }: { folder: string; name: string; size: number },
  stream: Readable,
): Promise<void> {
  let received = 0;
  const requireWhole = (): void => {
    if (received !== size) throw new CliError(`${name} has ${received} bytes instead of ${size}`);
  };
  if (size <= maxWhole) {
    const blocks: Buffer[] = [];
    for await (const block of stream) {
      blocks.push(Buffer.from(block));
      received += blocks.at(-1)?.length ?? 0;
      if (received > size) break;
    }
    requireWhole();
    const bytes = Buffer.concat(blocks);
    await api.run(`PUT mlflow-artifacts/artifacts/${encoded(`${folder}/${name}`)}`, { bytes });
    return;
  }
  const partBytes = Math.max(minPart, Math.ceil(size / maxParts));
  const num_parts = Math.ceil(size / partBytes);
  const location = encoded(folder);
  const { upload_id, credentials } = await api.json(Upload, `POST mlflow-artifacts/mpu/create/${location}`, {
    body: { path: name, num_parts },
  });
  const parts: { part_number: number }[] = [];
  for await (const block of blocksOf(stream, partBytes)) {
    const part = credentials[parts.length];
    received += block.length;
    if (part === undefined || received > size) break;
    await sendPart(part.url, block);
    parts.push({ part_number: part.part_number });
  }
  requireWhole();
  await api.run(`POST mlflow-artifacts/mpu/complete/${location}`, { body: { path: name, upload_id, parts } });
}

/**
 * Upload larger files to storage in parts. Smaller ones go through the service, whose functions accept at most 6
 * MB.
 */
const maxWhole = 4_000_000;

const minPart = 16 * 1024 * 1024;

/** Maximum number of parts that the service signs for one upload. */
const maxParts = 3000;

const Upload = z.object({
  upload_id: z.string(),
  credentials: z.array(z.object({ url: z.string(), part_number: z.number() })),
});

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Split a stream into blocks of exactly `bytes`, and a shorter last one. */
async function* blocksOf(stream: Readable, bytes: number): AsyncGenerator<Buffer<ArrayBuffer>> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    held.push(Buffer.from(chunk));
    size += held.at(-1)?.length ?? 0;
    while (size >= bytes) {
      const all = Buffer.concat(held);
      yield all.subarray(0, bytes);
      held = [all.subarray(bytes)];
      size -= bytes;
    }
  }
  if (size > 0) yield Buffer.concat(held);
}

async function sendPart(url: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { method: 'PUT', body: bytes }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    if (attempt === 5)
      throw new CliError(`Storage refused a part of a file: ${response?.status ?? 'no answer'}`);
  }
}

/** Return the path of `mlflow-artifacts:/<path>`. */
export const rootOf = (artifact_uri: string): string => artifact_uri.replace(/^mlflow-artifacts:\/+/, '');
