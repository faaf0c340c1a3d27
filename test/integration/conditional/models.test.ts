import { beforeAll, beforeEach, describe } from 'vitest';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import { recordedModel } from '../../support/model.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { checkChanges } from './change-checks.ts';
import { modelRows } from './model-rows.ts';
import { checkReads } from './read-checks.ts';
import type { RowContext } from './rows.ts';

describe('conditional requests about models', () => {
  let service: TestService;
  let owner: TestUser;
  let path: { model_name: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });

  beforeEach(async () => {
    const { model_name } = await recordedModel(service, owner);
    path = { model_name };
  });

  const call: RowContext['call'] = (endpoint, content = {}, headers = {}) =>
    service.call(endpoint, { path, as: owner, ...content, headers: { ...content.headers, ...headers } });
  const begin = async () => (await call(readModel)).headers['etag']!;
  const prepare = () => Promise.resolve();

  checkReads(modelRows, { call, begin, prepare });
  checkChanges(modelRows, { call, begin, prepare });
});
