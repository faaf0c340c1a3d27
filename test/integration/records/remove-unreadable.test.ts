import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as deletePruneStrategy } from '../../../functions/optimization/compressions/prune/delete-prune-strategy.endpoint.ts';
import { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { issuedKey, issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser, userPartition } from '../../../shared/data/accounts/user.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { everyItem } from '../../support/inventory.ts';
import type { TestService, TestUser } from '../../support/service.ts';
import { loadFixture, serviceWithRecords } from './fixture-records.ts';

const project_id = '01m7zd37c8fvxfhbyjhxbvgrzb';
const experiment_id = '01m7zd37c8ghvxmh6vt3kqynn0';
const ada = '01m7zd37c8ehm933t8h6rtmjze';

describe('a record that this version cannot read', () => {
  let service: TestService;
  let owner: TestUser;
  let stranger: TestUser;

  /** Makes the record one of a later release, or a damaged one. */
  async function spoil(kind: string, attributes: object) {
    const { table, item } = await loadFixture(`0/${kind}.json`);
    await service[table].write({ put: { ...item, ...attributes } });
    return { table, key: { pk: item.pk, sk: item.sk } };
  }

  beforeEach(async () => {
    service = await serviceWithRecords('0');
    const user = await findUser(service.accounts, ada);
    if (user === undefined) throw new Error('ada is missing');
    const now = new Date();
    const { bearer } = await issueToken(service.accounts, user, {
      token_id: '01m7zd37c8ehm933t8h6rtmjz1',
      now,
      seconds: 600,
      name: null,
    });
    owner = { user, token: bearer };
    stranger = await service.user('developer');
  });

  test.each([
    ['project', deleteProject, { project_id }, { schema_version: 99 }],
    ['project', deleteProject, { project_id }, { version: 'two', project_name: 3 }],
    ['config', deleteConfig, { project_id, config_id: 'train.yaml' }, { schema_version: 99 }],
    ['config', deleteConfig, { project_id, config_id: 'train.yaml' }, { generation: 1, version: null }],
    ['experiment', deleteExperiment, { project_id, experiment_id }, { schema_version: 99 }],
    ['experiment', deleteExperiment, { project_id, experiment_id }, { status: 'SUSPENDED', status_rank: 5 }],
    ['model', deleteModel, { model_name: 'digits.onnx' }, { status: 'archived' }],
    ['model', deleteModel, { model_name: 'digits.onnx' }, { version: 'two' }],
    ['strategy', deletePruneStrategy, { strategy_id: '01m7zdsw5k36ghx7aevqd88kq6' }, { kind: 'distil' }],
  ] as const)('is deleted by its owner and nobody else: a %s', async (kind, endpoint, path, attributes) => {
    const { table, key } = await spoil(kind, attributes);
    expect(await service.call(endpoint, { path, as: stranger })).toMatchObject({ status: 403 });
    expect((await service.call(endpoint, { path, as: owner })).status).toBe(200);
    expect(await service[table].get(key)).toBeUndefined();
  });

  test('is deleted by an admin where it names no owner', async () => {
    const { key } = await spoil('project', { owner_id: 7 });
    const path = { project_id };
    expect(await service.call(deleteProject, { path, as: owner })).toMatchObject({ status: 403 });
    const admin = await service.user('admin');
    expect((await service.call(deleteProject, { path, as: admin })).status).toBe(200);
    expect(await service.records.get(key)).toBeUndefined();
  });

  test('is deleted by an admin where it is a user', async () => {
    const { key } = await spoil('user', { account_type: 'auditor' });
    const admin = await service.user('admin');
    const deleted = await service.call(deleteUser, { query: { username: 'ada' }, as: admin });
    expect(deleted).toMatchObject({ status: 200, json: { user_id: ada, username: 'ada' } });
    expect(await service.accounts.get(key)).toBeUndefined();
  });

  test.each([
    ['of a later release', { schema_version: 99 }, 200],
    ['damaged', { expires_at: 'soon' }, 200],
    ['without the hash of its secret', { hash: 'lost' }, 409],
  ])('is revoked where it is a token %s', async (_, attributes, status) => {
    const now = new Date();
    const token_id = '01m7zd37c8ehm933t8h6rtmjz2';
    await issueToken(service.accounts, owner.user, { token_id, now, seconds: 600, name: 'script' });
    const stored = await service.accounts.get(issuedKey(ada, token_id));
    await service.accounts.write({ put: { ...stored!, ...attributes } });
    expect((await service.call(revokeToken, { path: { token_id }, as: owner })).status).toBe(status);
    const { items } = await service.accounts.query({ pk: userPartition(ada), prefix: 'TOKEN#' });
    expect(items.filter((item) => item['token_id'] === token_id)).toHaveLength(status === 200 ? 0 : 1);
  });

  test('is replaced where it is an environment', async () => {
    await spoil('environment', { env_type: 'conda' });
    const query = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
    const put = await service.call(putEnvironment, { path: { project_id }, query, as: owner });
    expect(put).toMatchObject({ status: 200, json: { env_type: 'system' } });
  });

  test('really goes with its project, and all that is its own', async () => {
    await spoil('experiment', { schema_version: 99, status: 'SUSPENDED' });
    await spoil('artifact', { schema_version: 99 });
    await spoil('config', { schema_version: 99 });
    await service.call(deleteProject, { path: { project_id }, as: owner });
    const batch = { BATCH_ENDPOINT: 'http://127.0.0.1:9', TRAIN_QUEUE: 'train', REMOTE_QUEUE: 'remote' };
    await taskHandler(purge, { ...service.environment, ...batch })({});
    const client = dynamoDb(service.environment);
    const left = await everyItem(client, service.environment['RECORDS_TABLE'] ?? '');
    const own = left.filter(({ pk }) => pk.includes(project_id) || pk.includes(experiment_id));
    expect(own.map(({ pk, sk }) => `${pk}/${sk}`)).toEqual([]);
  });
});
