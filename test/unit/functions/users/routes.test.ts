import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRouter } from '../../../../infra/local/gateway/router.ts';
import { loadEndpoints } from '../../../../infra/service/endpoints.ts';

test.each([
  ['/users', 'POST', 'createUser', {}],
  ['/users/', 'GET', 'listUsers', {}],
  ['/users/', 'DELETE', 'deleteUser', {}],
  ['/users/me', 'GET', 'readOwnAccount', {}],
  ['/users/me/', 'GET', 'readOwnAccount', {}],
  ['/users/mel', 'GET', 'readUser', { p1: 'mel' }],
  ['/users/check/me', 'GET', 'checkUsername', { p2: 'me' }],
  ['/users/check/check', 'GET', 'checkUsername', { p2: 'check' }],
  ['/users/ada/type', 'POST', 'changeUserType', { p1: 'ada' }],
  ['/users/ada/password', 'PUT', 'changePassword', { p1: 'ada' }],
  ['/auth/token', 'POST', 'createToken', {}],
  ['/auth/tokens', 'POST', 'createNamedToken', {}],
  ['/auth/tokens/x', 'DELETE', 'revokeToken', { p2: 'x' }],
  ['/auth/session', 'POST', 'createSession', {}],
  ['/auth/sessions', 'DELETE', 'deleteSessions', {}],
  ['/auth/sessions/x', 'DELETE', 'revokeSession', { p2: 'x' }],
])('%s with %s leads to %s', async (path, method, name, parameters) => {
  const folder = join(import.meta.dirname, '../../../../functions');
  const found = createRouter(await loadEndpoints(folder))(path);
  expect(found?.leaf.methods.get(method)?.endpoint.name).toBe(name);
  expect(found?.parameters).toEqual(parameters);
});
