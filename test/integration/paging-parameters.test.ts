import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as listPrunings } from '../../functions/optimization/compressions/prune/list-prune-strategies.endpoint.ts';
import { endpoint as listQuantizations } from '../../functions/optimization/compressions/quantize/list-quantize-strategies.endpoint.ts';
import { endpoint as listModels } from '../../functions/optimization/models/list-models.endpoint.ts';
import { endpoint as listConfigs } from '../../functions/projects/configs/list-configs.endpoint.ts';
import { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as listUsers } from '../../functions/users/list-users.endpoint.ts';
import { encodeCursor } from '../../shared/http/definition/cursor.ts';
import { testService } from '../support/service.ts';
import { cursorOf, pagedLists } from './paged-list.ts';
import { newProject } from './projects/new-project.ts';

describe('parameters of paging', () => {
  let list: ReturnType<typeof pagedLists>['list'];
  let project_id: string;

  beforeAll(async () => {
    const service = await testService();
    const owner = await service.user('developer');
    project_id = await newProject(service, owner);
    await service.call(putConfig, { path: { project_id, config_id: 'train.yaml' }, body: 'a: 1', as: owner });
    ({ list } = pagedLists(service, owner, project_id));
  });

  test.each([
    ['is blank', ''],
    ['is no base64url', 'a+b/='],
    ['holds other letters', 'ä'],
    ['holds nothing', cursorOf('')],
    ['is of no list', cursorOf('before:x')],
    ['names no row', cursorOf('after:')],
    ['names no list', cursorOf('after:01jgk7y4m8s2v6x0b3n9q5r1tz')],
    ['names no row of a list', cursorOf('after:AAAAAAAA:')],
    ['names a row longer than any key', cursorOf(`after:AAAAAAAA:${'k'.repeat(1001)}`)],
    ['is of no list that there is', cursorOf('after:AAAAAAAA:k')],
    ['is too long', 'a'.repeat(2001)],
    ['is bytes', cursorOf(Buffer.from([0xff, 0xfe, 0]))],
    ['is bytes after all', cursorOf(Buffer.concat([Buffer.from('after:'), Buffer.from([0xff, 0xc0])]))],
    ['is JSON', cursorOf('{"pk":"USERS","sk":"x"}')],
  ])('a cursor that %s is 400', async (_, cursor) => {
    for (const endpoint of [listProjects, listExperiments, listConfigs]) {
      const answer = await list(endpoint, new URLSearchParams({ cursor }).toString());
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([expect.objectContaining({ in: 'query', name: 'cursor' })]);
    }
  });

  const cursorIn = ({ name, path }: { name: string; path: string }, key: string) =>
    encodeCursor({ name, path: path.includes('{') ? { project_id } : {}, query: {} }, key);

  test('a cursor leads on in its own list alone', async () => {
    const lists = [
      listProjects,
      listExperiments,
      listConfigs,
      listUsers,
      listModels,
      listPrunings,
      listQuantizations,
    ];
    for (const own of lists) {
      for (const endpoint of lists) {
        const { status, json } = await list(endpoint, `limit=2&cursor=${cursorIn(own, 'k')}`);
        expect(status, `${own.name} in ${endpoint.name}`).toBe(own === endpoint ? 200 : 400);
        if (own !== endpoint) expect(json.errors).toMatchObject([{ in: 'query', name: 'cursor' }]);
      }
    }
    const elsewhere = { name: 'listConfigs', path: { project_id: '01jgk7y4m8s2v6x0b3n9q5r1tz' }, query: {} };
    expect((await list(listConfigs, `cursor=${encodeCursor(elsewhere, 'k')}`)).status).toBe(400);
  });

  test.each([
    ['names a row that never was', 'zzz'],
    ['names another partition', 'USER#x\nPASSWORD'],
    ['holds a zero', '\0'],
    ['is as long as a key may be', 'k'.repeat(1000)],
    ['is of no plane', '\u{10FFFF}'],
  ])('a forged cursor that %s leads nowhere else', async (_, key) => {
    for (const [endpoint, idName] of [
      [listProjects, 'project_id'],
      [listConfigs, 'config_id'],
    ] as const) {
      const answer = await list(
        endpoint,
        new URLSearchParams({ limit: '3', cursor: cursorIn(endpoint, key) }).toString(),
      );
      expect(answer.status).toBe(200);
      for (const row of answer.json) expect(row).toHaveProperty(idName);
    }
  });

  test.each(['0', '-1', '1001', '1e3', '1.5', '', ' 1', '0x10', 'NaN', '99999999999999999999'])(
    'limit=%s is 400',
    async (limit) => {
      const answer = await list(listProjects, new URLSearchParams({ limit }).toString());
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([
        { in: 'query', name: 'limit', message: 'must be a whole number from 1 to 1000' },
      ]);
    },
  );

  test('limits and cursors are given once', async () => {
    expect((await list(listProjects, 'limit=1&limit=2')).status).toBe(400);
    expect((await list(listProjects, 'cursor=YQ&cursor=YQ')).status).toBe(400);
  });
});
