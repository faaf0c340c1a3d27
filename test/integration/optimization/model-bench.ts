import { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as putModel } from '../../../functions/optimization/models/put-model.endpoint.ts';
import type { Answer, TestService, TestUser } from '../../support/service.ts';
import { send, sha256 } from '../projects/upload-file.ts';

/** Requests about the model of one name, as one caller makes them. */
export function modelBench(service: TestService, as: TestUser, model_name: string) {
  const path = { model_name };
  const create = (query: Record<string, string>, headers = {}): Promise<Answer> =>
    service.call(createModel, { path, query, as, headers });

  /** Asks for the upload of these bytes. */
  const announce = (bytes: Uint8Array, more: Record<string, string> = {}): Promise<Answer> =>
    create({ sha256: sha256(bytes), size: String(bytes.length), ...more });

  async function upload(bytes: Uint8Array, more: Record<string, string> = {}): Promise<Answer> {
    const asked = await announce(bytes, more);
    if (asked.status !== 200) throw new Error(asked.text);
    const status = await send(asked.json.upload, bytes);
    if (status !== 200) throw new Error(`storage answered ${status}`);
    return asked;
  }

  const accept = (query: Record<string, string> = {}): Promise<Answer> =>
    service.call(putModel, { path, query, as });

  return { path, create, announce, upload, accept };
}
