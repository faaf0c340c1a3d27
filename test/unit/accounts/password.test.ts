import { describe, expect, test } from 'vitest';
import { hashPassword, needsRehash, verifyPassword } from '../../../shared/accounts/password.ts';

/** From the test suite of the reference implementation of Argon2. */
const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

describe('password hashes', () => {
  test('verify what was hashed and nothing else', async () => {
    const hash = await hashPassword('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('correct horse ', hash)).toBe(false);
    expect(await verifyPassword('Correct horse', hash)).toBe(false);
  });

  test('are salted', async () => {
    expect(await hashPassword('correct horse')).not.toBe(await hashPassword('correct horse'));
  });

  test('of other implementations and costs verify, and ask to be made anew', async () => {
    expect(await verifyPassword('password', reference)).toBe(true);
    expect(await verifyPassword('passwore', reference)).toBe(false);
    expect(needsRehash(reference)).toBe(true);
    expect(needsRehash(await hashPassword('password'))).toBe(false);
  });

  test('take the password as given: no normalization, no cut at a zero', async () => {
    const hash = await hashPassword('caf\u00e9\0one');
    expect(await verifyPassword('cafe\u0301\0one', hash)).toBe(false);
    expect(await verifyPassword('caf\u00e9\0two', hash)).toBe(false);
  });

  test.each([undefined, '', 'no password', '$argon2id$v=19$m=1,t=1,p=1$$', reference.replace('id', 'i')])(
    'that are none (%j) verify nothing',
    async (hash) => {
      expect(await verifyPassword('', hash)).toBe(false);
      expect(await verifyPassword('password', hash)).toBe(false);
    },
  );
});
