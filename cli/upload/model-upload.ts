import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { partedBytes, sendByTicket } from '../../shared/client/node/send-by-ticket.ts';
import type { DigestedFile } from './digest-file.ts';

/**
 * Upload a file of a model. Skip parts that storage already has.
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
    ...((role === 'data' || role === 'preprocessing') && { name }),
    ...(multipart && { multipart }),
  };
  const ask = () => client.call<typeof createModel>(route, { path: { model_name }, query, signal });
  return sendByTicket(ask, { path, size, onProgress, signal });
}

/** A file of a model, with its role. */
export interface ModelFile extends DigestedFile {
  role: 'model' | 'data' | 'calibration' | 'evaluation' | 'preprocessing';
  /** Name of the file in the model. */
  name: string;
}

const route = 'POST /optimization/models/{model_name}';
