import { expect, test } from 'vitest';
import { checkRuntimeReport } from '../../../../infra/aws/deploy/checks/prerequisites.ts';

test('a runtime that hashes passwords is good, one that does not a problem that names what it lacks', () => {
  expect(checkRuntimeReport({ node: '24.9.0', openssl: '3.5.1' })).toMatchObject({
    outcome: 'good',
    what: expect.stringContaining('OpenSSL 3.5.1'),
  });
  expect(checkRuntimeReport({ node: '24.9.0', openssl: '3.0.8', failure: 'no argon2' })).toMatchObject({
    outcome: 'problem',
    what: expect.stringMatching(/OpenSSL 3\.0\.8.*3\.2 or newer: no argon2/),
  });
});
