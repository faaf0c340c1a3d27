import { ulid } from 'ulid';
import type { OptimizationKind } from '../../shared/data/jobs/job.ts';
import { type Compression, putCompression, resultObject } from '../../shared/data/models/compression.ts';
import { parseRequest } from '../../shared/onnx/methods/apply/parse-request.ts';
import type { TestService, TestUser } from './service.ts';

const at = '2026-01-02T03:04:05.000Z';
const sha256 = 'a'.repeat(64);

const requests: Readonly<Record<OptimizationKind, Compression['request']>> = {
  prune: parseRequest({ operation: 'prune', strategy: 'structured_l2', compression: 2 }),
  quantize: parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8 }),
};

/** A compression on record: one that has succeeded, or one that runs; neither has an object in the bucket. `more` changes it. */
export async function recordedCompression(
  service: Pick<TestService, 'records'>,
  { user }: Pick<TestUser, 'user'>,
  kind: OptimizationKind,
  hasEnded = true,
  strategy_id = ulid().toLowerCase(),
  more: Partial<Compression> = {},
): Promise<Compression> {
  const compression: Compression = {
    strategy_id,
    kind,
    owner: user.username,
    model_name: 'digits.onnx',
    model_id: ulid().toLowerCase(),
    model_digest: sha256,
    files: [],
    stored_shapes: { inputs: null, outputs: null },
    request: requests[kind],
    inputs: null,
    outputs: null,
    result_name: null,
    registered: null,
    progress: null,
    result: hasEnded ? [{ name: 'model.onnx', size: 1, sha256, object: resultObject(strategy_id, 'a') }] : [],
    receipt_parts: 0,
    cost_estimate: null,
    limit_share: 0,
    budget: null,
    charged: null,
    spent: 0,
    limits: null,
    line_ticket: null,
    begun_at: null,
    status: hasEnded ? 'SUCCEEDED' : 'RUNNING',
    status_rank: hasEnded ? 6 : 5,
    status_reason: null,
    attempt: 1,
    batch_attempt: 1,
    attempts: [],
    batch_job_id: null,
    depends_on: null,
    user_id: user.user_id,
    created_at: at,
    started_at: at,
    stopped_at: hasEnded ? at : null,
    cancel_requested_at: null,
    cancelled_by: null,
    checked_at: at,
    exit_code: null,
    signal: null,
    vcpus: 1,
    memory: 2048,
    gpus: 0,
    nodes: 1,
    timeout: 60,
    version: 1,
    ...more,
  };
  await service.records.write(putCompression(compression));
  return compression;
}
