import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { sendFile } from '../../shared/client/node/send-file.ts';
import { sendParts } from '../../shared/client/node/send-parts.ts';
import { sendUpload } from '../../shared/client/send-upload.ts';
import type { DigestedFile } from './digest-file.ts';

/** A file of a model, and what it is. */
export interface ModelFile extends DigestedFile {
  role: 'model' | 'data' | 'calibration' | 'evaluation';
  /** The name by which the model refers to a file of external data. */
  name: string;
}

/** From here on a file goes in parts, of which a broken connection costs only one. */
const partedBytes = 64 * 1024 ** 2;

const route = 'POST /optimization/models/{model_name}';

/**
 * Sends a file of a model. Parts that storage has are not sent again.
 *
 * @returns whether anything was sent
 */
export async function sendModelFile(
  client: Client,
  model_name: string,
  { path, size, sha256, role, name }: ModelFile,
  { signal, onProgress }: { signal: AbortSignal; onProgress(bytes: number): void },
): Promise<boolean> {
  const multipart = size >= partedBytes;
  const query = {
    file: role,
    sha256,
    size,
    ...(role === 'data' && { name }),
    ...(multipart && { multipart }),
  };
  const ticket = () => client.call<typeof createModel>(route, { path: { model_name }, query, signal });
  const first = await ticket();
  if (first.parts !== null) {
    let answered: typeof first | undefined = first;
    const missing = async () => {
      const { parts } = answered ?? (await ticket());
      answered = undefined;
      return parts;
    };
    await sendParts(missing, { path, size, onProgress, signal });
    return true;
  }
  if (first.upload === null) return false;
  let target: typeof first.upload | undefined = first.upload;
  const next = async () => {
    const given = target ?? (await ticket()).upload;
    target = undefined;
    if (given === null) throw new Error(`the service takes no more bytes of ${path}`);
    return given;
  };
  await sendUpload(next, sendFile({ path, size, onProgress, signal }), signal);
  return true;
}
