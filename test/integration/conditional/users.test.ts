import { ulid } from 'ulid';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { endpoint as putPicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import { endpoint as readUser } from '../../../functions/users/read-user.endpoint.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { findUser } from '../../../shared/data/accounts/user.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { sampled } from '../../support/samples.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { checkChanges } from './change-checks.ts';
import { checkReads } from './read-checks.ts';
import type { RowContext } from './rows.ts';
import { userRows } from './user-rows.ts';

describe('conditional requests about users', () => {
  let service: TestService;
  let admin: TestUser;
  let ada: TestUser;

  beforeAll(async () => {
    service = await testService();
    admin = await service.user('admin');
  });

  beforeEach(async () => {
    ada = await service.user('developer');
  });

  /** Ada, signed in anew: a change of her password ends what she had. */
  async function signedIn(): Promise<TestUser> {
    const user = (await findUser(service.accounts, ada.user.user_id))!;
    const options = { token_id: ulid().toLowerCase(), now: new Date(), seconds: 3600, name: null };
    return { user, token: (await issueToken(service.accounts, user, options)).bearer };
  }

  const call: RowContext['call'] = async (endpoint, content = {}, headers = {}) => {
    const { username } = ada.user;
    return service.call(endpoint, {
      as: endpoint === readOwnAccount ? await signedIn() : admin,
      ...(endpoint === deleteUser ? { query: { username } } : { path: { username } }),
      ...content,
      headers: { ...content.headers, ...headers },
    });
  };

  const prepare = () => Promise.resolve();

  async function begin({ path }: AnyEndpoint): Promise<string> {
    if (!/picture|thumbnail/.test(path)) return (await call(readUser)).headers['etag']!;
    const row = userRows.changes.find(({ endpoint }) => endpoint === putPicture)!;
    const made = await call(putPicture, row.content(0));
    expect(made.status).toBe(200);
    return made.headers['etag']!;
  }

  checkReads({ ...userRows, reads: sampled(userRows.reads, 2) }, { call, begin, prepare });
  checkChanges({ ...userRows, changes: sampled(userRows.changes, 2) }, { call, begin, prepare });
});
