import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { revokeToken } from '../../../shared/data/accounts/token.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const both = ['BatchGet accounts records'];
const accountsAlone = ['BatchGet accounts'];
const writesRecords = ['TransactWrite records'];

describe('a request by a token that was good before', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService();
  });

  async function ownerOfProject(): Promise<{ owner: TestUser; path: { project_id: string } }> {
    const owner = await service.user('developer');
    return { owner, path: { project_id: await newProject(service, owner) } };
  }
  const revoke = async ({ user, token }: TestUser) => {
    const items = await service.accounts.query({ pk: `USER#${user.user_id}`, prefix: 'TOKEN#' });
    expect(items.items).toHaveLength(1);
    for (const { sk } of items.items)
      await revokeToken(service.accounts, user.user_id, sk.slice('TOKEN#'.length));
    expect(token).toContain(user.user_id);
  };
  const read = (as: TestUser, path: { project_id: string }) => service.call(readProject, { as, path });
  const record = (as: TestUser, path: { project_id: string }) =>
    service.call(createExperiment, { ...json({}), as, path });

  test('reads who it is of together with what it needs', async () => {
    const { owner, path } = await ownerOfProject();
    const reading = () => tableRequests(service, readProject, () => read(owner, path));
    expect((await reading())[0]).toEqual(accountsAlone);
    expect((await reading())[0]).toEqual(both);
  });

  test('an unknown token causes no read but that of the token, also beside a good one of the same user', async () => {
    const { owner, path } = await ownerOfProject();
    await read(owner, path);
    const last = owner.token.endsWith('A') ? 'B' : 'A';
    const forged = { ...owner, token: `${owner.token.slice(0, -1)}${last}` };
    for (let time = 0; time < 3; time += 1) {
      const statuses: number[] = [];
      const sent = await tableRequests(service, readProject, async () => {
        statuses.push((await read(forged, path)).status);
      });
      expect([statuses, sent]).toEqual([[401], [accountsAlone]]);
    }
  });

  test('is refused once the token is revoked, and from then on causes no other read', async () => {
    const { owner, path } = await ownerOfProject();
    expect((await read(owner, path)).status).toBe(200);
    await revoke(owner);
    expect((await read(owner, path)).status).toBe(401);
    const sent = await tableRequests(service, readProject, () => read(owner, path));
    expect(sent).toEqual([accountsAlone]);
  });

  test('writes nothing once the token is revoked', async () => {
    const { owner, path } = await ownerOfProject();
    expect((await record(owner, path)).status).toBe(200);
    const again = await tableRequests(service, createExperiment, () => record(owner, path));
    expect(again[0]).toEqual(both);
    expect(again).toContainEqual(writesRecords);
    const partition = `EXPERIMENTS#${path.project_id}`;
    const recorded = () => service.records.count(partition, 10);
    expect(await recorded()).toBe(2);
    await revoke(owner);
    const sent = await tableRequests(service, createExperiment, async () => {
      expect((await record(owner, path)).status).toBe(401);
    });
    expect(sent[0]).toEqual(both);
    expect(sent).not.toContainEqual(writesRecords);
    expect(await recorded()).toBe(2);
  });

  test('an account of too low a type is refused by the read of its token alone', async () => {
    const { path } = await ownerOfProject();
    const viewer = await service.user('viewer');
    for (let time = 0; time < 3; time += 1) {
      const statuses: number[] = [];
      const sent = await tableRequests(service, createExperiment, async () => {
        statuses.push((await record(viewer, path)).status);
      });
      expect([statuses, sent]).toEqual([[403], [accountsAlone]]);
    }
  });
});
