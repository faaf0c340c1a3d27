import { expect, test } from 'vitest';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { putConfig as storeConfig } from '../../../shared/data/projects/config.ts';
import { testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const service = await testService();
const owner = await service.user('developer');

test.each([
  ['does not parse', Buffer.from('a: [1')],
  ['is no UTF-8', Buffer.from([0xff, 0xfe])],
])(
  'a configuration that an earlier release let in and that %s is told, and can be replaced',
  async (_, bytes) => {
    const project_id = await newProject(service, owner);
    const config_id = 'train.yaml';
    const at = '2026-02-03T04:05:06.007Z';
    const value = {
      project_id,
      config_id,
      format: 'yaml',
      size: bytes.length,
      sha256: 'a'.repeat(64),
      created_at: at,
      updated_at: at,
      version: 1,
      versions_before: 0,
      generation: '0'.repeat(26),
    } as const;
    await storeConfig(service.records, value, bytes, undefined);
    const query = { entry_point_command: 'true', env_type: 'system', dependencies: '' };
    await service.call(putEnvironment, { path: { project_id }, query, as: owner });

    const path = { project_id, config_id };
    const answers = [
      await service.call(readConfig, { path, as: owner }),
      await service.call(readGraph, { path, as: owner }),
      await service.call(readGraph, { path, as: owner, headers: { Accept: 'image/svg+xml' } }),
      await service.call(train, { path: { project_id }, query: { config: config_id }, as: owner }),
    ];
    for (const { status, json } of answers) {
      expect(status).toBe(409);
      expect(json.detail).toMatch(/^The stored train\.yaml cannot be read: /);
    }
    expect((await service.call(putConfig, { path, as: owner, body: 'a: 1\n' })).status).toBe(200);
    expect((await service.call(readConfig, { path, as: owner })).json).toMatchObject({
      version: 2,
      data: { a: 1 },
    });
    expect((await service.call(deleteConfig, { path, as: owner })).status).toBe(200);
  },
);
