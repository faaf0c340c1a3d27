import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as listConfigs } from '../../../functions/projects/configs/list-configs.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as listCriteria } from '../../../functions/projects/projects/list-criteria.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as listDatasets } from '../../../functions/projects/uploads/list-datasets.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as readSource } from '../../../functions/projects/uploads/read-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const sha256 = 'a'.repeat(64);
const reads = [
  readProject,
  listConfigs,
  readConfig,
  readConfigGraph,
  readEnvironment,
  readSource,
  listDatasets,
].map((endpoint) => [endpoint.name, endpoint, {}] as const);
const changes = [
  [updateProject, { body: '{"project_name":"x"}', headers: { 'Content-Type': 'application/json' } }],
  [putConfig, { body: 'a: 1' }],
  [deleteConfig, {}],
  [putEnvironment, { query: { entry_point_command: 'true', env_type: 'system', dependencies: '' } }],
  [requestSourceUpload, { query: { sha256, size: '1' } }],
  [putSource, { query: { sha256 } }],
  [requestDatasetUpload, { query: { sha256, size: '1' } }],
  [putDataset, { query: { sha256 } }],
] as const;
const allChanges = changes.map(([endpoint, call]) => [endpoint.name, endpoint, call as Call] as const);

describe('access to projects', () => {
  let service: TestService;
  let owner: TestUser;
  let stranger: TestUser;
  let viewer: TestUser;
  let guest: TestUser;
  let path: { project_id: string; config_id: string; dataset: string };

  beforeAll(async () => {
    service = await testService();
    [owner, stranger, viewer, guest] = await Promise.all([
      service.user('developer'),
      service.user('developer'),
      service.user('viewer'),
      service.user('guest'),
    ]);
    path = { project_id: await newProject(service, owner), config_id: 'train.yaml', dataset: 'digits' };
  });

  test.each([...reads, ...allChanges])(
    '%s is refused to who has not signed in, and to guests',
    async (_, endpoint, call) => {
      expect((await service.call(endpoint, { path, ...call })).status).toBe(401);
      expect((await service.call(endpoint, { path, ...call, as: guest })).status).toBe(403);
    },
  );

  test.each(allChanges)(
    '%s is refused to viewers and to owners of other projects',
    async (_, endpoint, call) => {
      expect((await service.call(endpoint, { path, ...call, as: viewer })).status).toBe(403);
      const refused = await service.call(endpoint, { path, ...call, as: stranger });
      expect(refused.status).toBe(403);
      expect(refused.json.detail).toContain('belongs to another user');
    },
  );

  test.each([...reads, ...allChanges])(
    '%s answers 404 for a project that does not exist, 400 for what is no id',
    async (_, endpoint, call) => {
      const unknown = await service.call(endpoint, {
        ...call,
        path: { ...path, project_id: '01h00000000000000000000000' },
        as: owner,
      });
      expect(unknown.status).toBe(404);
      expect(unknown.json.detail).toBe('There is no project 01h00000000000000000000000.');
      const malformed = await service.call(endpoint, {
        ...call,
        path: { ...path, project_id: '../etc' },
        as: owner,
      });
      expect(malformed.status).toBe(400);
      expect(malformed.json.errors).toEqual([expect.objectContaining({ in: 'path', name: 'project_id' })]);
    },
  );

  test.each([...reads, ...allChanges])(
    '%s refuses parameters that it does not have',
    async (_, endpoint, call) => {
      const query = { ...((call as Call).query as Record<string, string>), colour: 'red' };
      const answer = await service.call(endpoint, { path, ...call, query, as: owner });
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([expect.objectContaining({ in: 'query', name: 'colour' })]);
    },
  );

  test('an admin may change what belongs to others', async () => {
    const admin = await service.user('admin');
    const answer = await service.call(putEnvironment, {
      path: { project_id: path.project_id },
      query: { entry_point_command: 'true', env_type: 'system', dependencies: 'none' },
      as: admin,
    });
    expect(answer.status).toBe(200);
  });

  test('criteria are for viewers', async () => {
    expect((await service.call(listCriteria, {})).status).toBe(401);
    expect((await service.call(listCriteria, { as: guest })).status).toBe(403);
    const { status, json } = await service.call(listCriteria, { as: viewer });
    expect(status).toBe(200);
    expect(json).toContainEqual({
      name: 'accuracy',
      goal: 'maximize',
      tasks: expect.arrayContaining(['classification']),
      description: expect.any(String),
    });
  });
});
