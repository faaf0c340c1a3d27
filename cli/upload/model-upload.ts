import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { partedBytes, sendByTicket } from '../../shared/client/node/send-by-ticket.ts';
import type { DigestedFile } from './digest-file.ts';

/**
 * Upload a file of a model. Skip parts that storage already has.
 *
 * @returns whether anything was sent
 */
export const sendModelFile = (
  client: Client,
  model: ModelToSend,
  file: ModelFile,
  { signal, onProgress }: { signal: AbortSignal; onProgress(bytes: number): void },
): Promise<boolean> =>
  sendByTicket(() => announceModelFile(client, model, file, signal), { ...file, onProgress, signal });

/** Ask for the upload of a file of a model, which the service refuses here. It may be repeated. */
export function announceModelFile(
  client: Client,
  { model_name, shapes }: ModelToSend,
  { size, sha256, role, name }: ModelFile,
  signal: AbortSignal,
) {
  const query = {
    ...shapes,
    file: role,
    sha256,
    size,
    ...((role === 'data' || role === 'preprocessing') && { name }),
    ...(size >= partedBytes && { multipart: true }),
  };
  return client.call<typeof createModel>(route, { path: { model_name }, query, signal });
}

interface ModelToSend {
  model_name: string;
  shapes: { inputs?: string; outputs?: string };
}

/** A file of a model, with its role. */
export interface ModelFile extends DigestedFile {
  role: 'model' | 'data' | 'calibration' | 'evaluation' | 'preprocessing';
  /** Name of the file in the model. */
  name: string;
}

const route = 'POST /optimization/models/{model_name}';
