import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as readHealth } from '../../../functions/service/read-health.endpoint.ts';
import { endpoint as createUser } from '../../../functions/users/create-user.endpoint.ts';
import { everySample } from '../../support/samples.ts';
import { type Answer, type TestService, type TestUser, testService } from '../../support/service.ts';

const listed = 'https://app.example';
const password = 'correct horse battery';
const host = '127.0.0.1:3000';

describe('writes by pages of other origins', () => {
  let service: TestService;
  let admin: TestUser;
  beforeAll(async () => {
    service = await testService({ CORS_ORIGINS: listed });
    admin = await service.user('admin');
    const body = JSON.stringify({ username: 'root', account_type: 'admin', password });
    const headers = { 'Content-Type': 'application/json' };
    await service.call(createUser, { as: admin, headers, body });
  });

  const signIn = (username: string, secret: string, headers: Record<string, string> = {}): Promise<Answer> =>
    service.call(createToken, {
      headers: { Host: host, 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ grant_type: 'password', username, password: secret }).toString(),
      sourceIp: '198.51.100.1',
    });

  test.each([
    ['a form of another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['a form of another port', { Origin: 'http://127.0.0.1:8888', 'Sec-Fetch-Site': 'same-site' }],
    ['a sandboxed form', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
    ['a form without an origin', { 'Sec-Fetch-Site': 'cross-site' }],
    ['an older browser', { Origin: 'https://evil.example' }],
    ['an older browser at a local page', { Origin: 'http://127.0.0.1:8888' }],
    ['an older browser in a sandbox', { Origin: 'null' }],
    ['two origins', { Origin: `${listed}, https://evil.example` }],
  ])('%s is refused before it counts', async (_, headers) => {
    for (let n = 0; n < 7; n += 1) {
      const answer = await signIn('root', 'wrong', headers);
      expect(answer.status).toBe(403);
      expect(answer.json.detail).toContain('page of another origin');
    }
    expect((await signIn('root', password, headers)).status).toBe(403);
    expect((await signIn('root', password)).status).toBe(200);
  });

  test.each([
    ['a listed origin', { Origin: listed, 'Sec-Fetch-Site': 'cross-site' }],
    ['the own pages', { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' }],
    ['the own pages behind a proxy', { Origin: 'https://ml.example', 'Sec-Fetch-Site': 'same-origin' }],
    ['the own pages in an older browser', { Origin: `http://${host}` }],
    ['the own pages at the usual port', { Origin: 'https://ml.example', Host: 'ML.example:443' }],
    ['the person themselves', { 'Sec-Fetch-Site': 'none' }],
    ['no browser', {}],
  ])('%s is admitted', async (_, headers) => {
    expect((await signIn('root', password, headers)).status).toBe(200);
  });

  test('no write is taken with a good token either, while reads stay open', async () => {
    const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    expect((await service.call(deleteToken, { as: admin, headers })).status).toBe(403);
    expect((await service.call(readHealth, { headers })).status).toBe(200);
    expect((await service.call(deleteToken, { as: admin })).status).toBe(200);
  });

  test.runIf(everySample)(
    'wrong names from the own address lock nobody out who signed in from there',
    async () => {
      expect((await signIn('root', password)).status).toBe(200);
      const refused: number[] = [];
      for (let n = 0; n < 60; n += 1) refused.push((await signIn(`invented-${n}`, 'wrong')).status);
      expect(refused.filter((status) => status === 429).length).toBeGreaterThan(0);
      for (let n = 0; n < 6; n += 1) expect((await signIn('root', password)).status).toBe(200);
    },
  );
});
