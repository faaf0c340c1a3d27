import { ulid } from 'ulid';
import { beforeAll, beforeEach, describe } from 'vitest';
import type { Compression } from '../../../shared/data/models/compression.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { recordedCompression } from '../../support/compression.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { checkChanges } from './change-checks.ts';
import { compressionRows } from './compression-rows.ts';
import { checkReads } from './read-checks.ts';
import type { RowContext } from './rows.ts';

/** It failed before it had a result. */
const failed = {
  status: 'FAILED',
  status_reason: 'The model could not be read.',
  exit_code: 1,
  result: [],
} satisfies Partial<Compression>;

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
    await recordedCompression(service, owner, kind, true, path.strategy_id, failed);
  }

  async function begin(endpoint: AnyEndpoint): Promise<string> {
    await prepare(endpoint);
    return '"1-x"';
  }

  checkReads(compressionRows, { call, begin, prepare });
  checkChanges(compressionRows, { call, begin, prepare });
});
