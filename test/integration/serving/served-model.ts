import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import { endpoint as serveModels } from '../../../functions/serving/serve-models.endpoint.ts';
import { uploadModel } from '../../support/optimization.ts';
import type { Answer, Call, TestService, TestUser } from '../../support/service.ts';

/** Bytes of a file of `test/fixtures/onnx`. */
export const fixture = (name: string): Promise<Buffer> =>
  readFile(join(import.meta.dirname, '../../fixtures/onnx', name));

/** Upload a fixture as a model and serve it. */
export async function serve(
  service: TestService,
  as: TestUser,
  model_name: string,
  query: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, Uint8Array>> = {},
  file = 'digits.onnx',
): Promise<Answer> {
  await uploadModel(service, as, model_name, { model: await fixture(file), ...files });
  return service.call(putServing, { path: { model_name }, query, as });
}

/** Call an operation of the protocol, such as `models/digits/infer`. */
export const protocol = (service: TestService, v2_path: string, call: Call = {}): Promise<Answer> =>
  service.call(serveModels, { method: 'GET', ...call, path: { v2_path } });

/** Ask a served model with a JSON body. */
export const ask = (service: TestService, model: string, body: object, call: Call = {}): Promise<Answer> =>
  protocol(service, `models/${model}/infer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...call.headers },
    body: JSON.stringify(body),
    ...(call.as !== undefined && { as: call.as }),
    ...(call.environment !== undefined && { environment: call.environment }),
  });

/** Ask with binary tensors, the JSON before them. */
export function binary(
  json: object,
  tensors: readonly Uint8Array[],
): Pick<Call, 'method' | 'headers' | 'body'> {
  const head = Buffer.from(JSON.stringify(json));
  return {
    method: 'POST',
    headers: {
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(head.length),
    },
    body: Buffer.concat([head, ...tensors]),
  };
}

/** Split an answer with binary tensors. */
export function splitAnswer({ headers, bytes }: Answer) {
  const length = Number(headers['inference-header-content-length']);
  return { json: JSON.parse(bytes.toString('utf8', 0, length)), tensors: bytes.subarray(length) };
}

/** An image of the digits model. */
export const image = Array.from({ length: 64 }, (_, index) => (index % 17) / 16);

export const imageInput = (rows = 1) => ({
  name: 'image',
  shape: [rows, 1, 8, 8],
  datatype: 'FP32',
  data: Array.from({ length: rows }, () => image).flat(),
});
