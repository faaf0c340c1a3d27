import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as putModel } from '../../../functions/optimization/models/put-model.endpoint.ts';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import type { Answer, TestService, TestUser } from '../../support/service.ts';

/** Folder of small models with random weights, each with the tokenizer that it was made with. */
export const textModels = join(import.meta.dirname, '../../fixtures/texts');

/** Upload a file of a model. */
export async function sendFile(
  service: TestService,
  as: TestUser,
  model_name: string,
  query: Readonly<Record<string, string>>,
  bytes: Uint8Array,
): Promise<Answer> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const described = { sha256, size: String(bytes.length), ...query };
  const asked = await service.call(createModel, { path: { model_name }, query: described, as });
  if (asked.status !== 200) return asked;
  const { url, method, headers } = asked.json.upload;
  const { 'content-length': _, ...sent } = headers;
  await fetch(url, { method, headers: sent, body: Buffer.from(bytes) });
  return asked;
}

/** Upload a folder of a model with its tokenizer, some of its files in other words, and serve it. */
export async function serveFolder(
  service: TestService,
  as: TestUser,
  model_name: string,
  folder: string,
  changed: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const names = await readdir(join(textModels, folder), { recursive: true });
  for (const name of [...new Set([...names, ...Object.keys(changed)])]) {
    if (!/\.(json|onnx)$/.test(name)) continue;
    const bytes = Buffer.from(changed[name] ?? (await readFile(join(textModels, folder, name))));
    const query = name.endsWith('.onnx') ? { file: 'model' } : { file: 'preprocessing', name };
    const sent = await sendFile(service, as, model_name, query, bytes);
    if (sent.status !== 200) throw new Error(sent.text);
  }
  const ready = await service.call(putModel, { path: { model_name }, as });
  if (ready.status !== 200) return ready;
  return service.call(putServing, { path: { model_name }, as });
}
