import { describe, expect, test } from 'vitest';
import { NewPassword, newPasswordOf, PresentedPassword } from '../../../shared/accounts/password-rules.ts';

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

describe('a new password of ada.lovelace', () => {
  test.each([
    'adalovelace',
    'ada.lovelaceada.lovelace',
    'Ada_Lovelace',
    '1815-ada-lovelace-1852!',
    'ecalevol.ada',
    'adalovelaceecalevolada',
    'ADALOVELACE2026mps',
    'model-project-service',
    'MpsMpsMps',
    '１２ａｄａｌｏｖｅｌａｃｅ',
  ])('may not be %s', (password) => {
    expect(newPasswordOf('ada.lovelace').safeParse(password).error?.issues[0]?.message).toBe(
      "is made of the user's or the service's name alone",
    );
  });

  test.each(['ada lovelace wrote it', '9471036258', 'lovelace, augusta', 'modelling clay'])(
    'may be %s',
    (password) => {
      expect(newPasswordOf('ada.lovelace').parse(password)).toBe(password);
    },
  );
});

test.each([
  ['2026-11', '20261120261120'.slice(0, 12)],
  ['user1', 'user1user1'],
  ['a', 'aaaaaaaa'],
])('the password of %s may not be %s', (username, password) => {
  expect(newPasswordOf(username).safeParse(password).success).toBe(false);
});

test('a presented password may be one that no rule allows any more', () => {
  expect(PresentedPassword.parse('password')).toBe('password');
});
