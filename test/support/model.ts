import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { type Model, modelObject, putModel } from '../../shared/data/models/model.ts';
import { inspectModel } from '../../shared/onnx/model/inspect/inspect-model.ts';
import type { TestService, TestUser } from './service.ts';

/** Bytes of a file of `test/fixtures/onnx`. */
export const onnxFixture = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, '../fixtures/onnx', name));

const at = '2026-01-02T03:04:05.000Z';

/** Inspection of `digits.onnx`: image [batch, 1, 8, 8] to logits [batch, 10]. */
export async function digitsSummary() {
  const bytes = onnxFixture('digits.onnx');
  const read = (offset: number, length: number) => Promise.resolve(bytes.subarray(offset, offset + length));
  return inspectModel({ size: bytes.length, read });
}

/** A model on record that is ready, and has no object in the bucket. */
export async function recordedModel(
  service: Pick<TestService, 'records'>,
  { user }: Pick<TestUser, 'user'>,
  model_name = `m${ulid().toLowerCase()}`,
): Promise<Model> {
  const model_id = ulid().toLowerCase();
  const sha256 = 'a'.repeat(64);
  const object = modelObject(model_id, ulid().toLowerCase());
  const model: Model = {
    model_id,
    model_name,
    owner: user.username,
    owner_id: user.user_id,
    status: 'ready',
    origin: { kind: 'upload' },
    digest: sha256,
    files: [{ role: 'model', name: 'model.onnx', size: 920, sha256, object, verified: true }],
    pending: [],
    shapes: { inputs: null, outputs: null },
    summary: await digitsSummary(),
    created_at: at,
    updated_at: at,
    version: 1,
  };
  await putModel(service.records, model, undefined);
  return model;
}
