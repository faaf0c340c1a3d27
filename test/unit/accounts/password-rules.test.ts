import { describe, expect, test } from 'vitest';
import { NewPassword, PresentedPassword } from '../../../shared/accounts/password-rules.ts';

describe('a new password', () => {
  test.each([
    ['words', 'correct horse battery'],
    ['8 characters with a blank in front', ' 8 chars'],
    ['8 characters of two units', '\u{1F600}'.repeat(8)],
    ['256 characters of two units', '\u{1F600}'.repeat(256)],
  ])('may be %s', (_, password) => {
    expect(NewPassword.parse(password)).toBe(password);
  });

  test.each([
    ['nothing', '', 'is blank'],
    ['7 characters', 'seven77', 'must have 8 to 256 characters'],
    ['7 characters of two units', '\u{1F600}'.repeat(7), 'must have 8 to 256 characters'],
    ['257 characters', 'x'.repeat(257), 'must have 8 to 256 characters'],
    ['endless', 'x'.repeat(100_000), 'must have 8 to 256 characters'],
    ['what everybody tries', 'password', 'is one of the commonest passwords'],
    ['that with capitals', 'PassWord1', 'is one of the commonest passwords'],
    ['half a character', 'lone surrogate \ud800', 'is not valid Unicode'],
  ])('may not be %s', (_, password, message) => {
    expect(NewPassword.safeParse(password).error?.issues[0]?.message).toBe(message);
  });
});

test('a presented password may be one that no rule allows any more', () => {
  expect(PresentedPassword.parse('password')).toBe('password');
});
