import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { revokeToken } from '../../../shared/data/accounts/token.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const accountsAlone = ['BatchGet accounts'];

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

  test('reads its caller, and only then what it needs', async () => {
    const { owner, path } = await ownerOfProject();
    holdRecency().pass();
    const [first, second] = await tableRequests(service, readProject, () => read(owner, path));
    expect([first, second]).toEqual([accountsAlone, ['BatchGet records']]);
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

  test('causes no other read or write once the token is revoked', async () => {
    const { owner, path } = await ownerOfProject();
    expect((await record(owner, path)).status).toBe(200);
    await revoke(owner);
    const sent = await tableRequests(service, createExperiment, async () => {
      expect((await record(owner, path)).status).toBe(401);
    });
    expect(sent).toEqual([accountsAlone]);
  });

  test('an account of too low a type is refused by the read of its token alone', async () => {
    const { path } = await ownerOfProject();
    const viewer = await service.user('viewer');
    holdRecency();
    for (let time = 0; time < 3; time += 1) {
      const statuses: number[] = [];
      const sent = await tableRequests(service, createExperiment, async () => {
        statuses.push((await record(viewer, path)).status);
      });
      expect([statuses, sent]).toEqual([[403], time === 0 ? [accountsAlone] : []]);
    }
  });
});
