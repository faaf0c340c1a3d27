import { ulid } from 'ulid';
import { beforeAll, beforeEach, describe } from 'vitest';
import { finalRank } from '../../../shared/data/jobs/job-status.ts';
import { type Compression, putCompression } from '../../../shared/data/models/compression.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
import { parseRequest } from '../../../shared/onnx/methods/apply/parse-request.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { checkChanges } from './change-checks.ts';
import { compressionRows } from './compression-rows.ts';
import { checkReads } from './read-checks.ts';
import type { RowContext } from './rows.ts';

const at = '2026-01-02T03:04:05.000Z';

const requests: Record<Compression['kind'], Compression['request']> = {
  prune: parseRequest({ operation: 'prune', strategy: 'magnitude_global', compression: 2 }),
  quantize: parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8 }),
};

/** A compression that failed before it had a result. */
function failedCompression(kind: Compression['kind'], strategy_id: string, { user }: TestUser): Compression {
  return {
    kind,
    strategy_id,
    owner: user.username,
    user_id: user.user_id,
    model_name: 'digits',
    model_id: ulid().toLowerCase(),
    model_digest: 'a'.repeat(64),
    files: [],
    stored_shapes: { inputs: null, outputs: null },
    request: requests[kind],
    inputs: null,
    outputs: null,
    result_name: null,
    registered: null,
    progress: null,
    result: [],
    receipt_parts: 0,
    cost_estimate: null,
    limit_share: 0,
    budget: null,
    charged: null,
    spent: 0,
    limits: null,
    line_ticket: null,
    begun_at: null,
    status: 'FAILED',
    status_rank: finalRank,
    status_reason: 'The model could not be read.',
    attempt: 1,
    batch_attempt: 1,
    attempts: [],
    batch_job_id: null,
    depends_on: null,
    created_at: at,
    started_at: at,
    stopped_at: at,
    cancel_requested_at: null,
    cancelled_by: null,
    checked_at: at,
    exit_code: 1,
    signal: null,
    vcpus: 1,
    memory: 2048,
    gpus: 0,
    nodes: 1,
    timeout: 3600,
    version: 1,
  };
}

describe('conditional requests about strategies', () => {
  let service: TestService;
  let owner: TestUser;
  let path: { strategy_id: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });

  beforeEach(() => {
    path = { strategy_id: ulid().toLowerCase() };
  });

  const call: RowContext['call'] = (endpoint, content = {}, headers = {}) =>
    service.call(endpoint, { path, as: owner, ...content, headers: { ...content.headers, ...headers } });

  async function prepare({ path: route }: AnyEndpoint): Promise<void> {
    const kind = route.includes('/prune/') ? 'prune' : 'quantize';
    await service.records.write(putCompression(failedCompression(kind, path.strategy_id, owner)));
  }

  async function begin(endpoint: AnyEndpoint): Promise<string> {
    await prepare(endpoint);
    return '"1-x"';
  }

  checkReads(compressionRows, { call, begin, prepare });
  checkChanges(compressionRows, { call, begin, prepare });
});
