import * as z from 'zod';
import { isCommonPassword } from './common-passwords.ts';

const least = 8;
const most = 256;
const lengthMessage = `must have ${least} to ${most} characters`;

const anyPassword = z
  .string()
  .min(1, 'is blank')
  // Characters are code points. Each has at most two UTF-16 units.
  .max(2 * most, lengthMessage)
  .refine((password) => password.isWellFormed(), 'is not valid Unicode');

/**
 * A password at sign-in: any text that a password may be. Lone surrogates are refused: they have no UTF-8 form, so
 * two passwords that differ only in them would be equal.
 */
export const PresentedPassword = anyPassword.meta({ minLength: 1, maxLength: most });

/** A new password: 8 to 256 code points, unchanged, and not a common password. */
export const NewPassword = anyPassword
  .refine((password) => {
    const characters = [...password].length;
    return characters >= least && characters <= most;
  }, lengthMessage)
  .refine((password) => !isCommonPassword(password), 'is one of the commonest passwords')
  .meta({ minLength: least, maxLength: most });

/** A new password of this user: not their name or the service's, in any simple form. */
export const newPasswordOf = (username: string) =>
  NewPassword.refine((password) => !isMadeOfName(password, username), ofNameMessage);

/** Fault of a password that {@link isMadeOfName} finds. */
export const ofNameMessage = "is made of the user's or the service's name alone";

/**
 * Return whether nothing but names is in a password: the user's or the service's, also backwards, again and again, in
 * capitals, and with digits and signs between and around.
 */
export function isMadeOfName(password: string, username: string): boolean {
  const letters = lettersOf(password);
  // Names of digits alone are found with their digits.
  if (letters === '' || lettersOf(username) === '') return isMadeOf(plainOf(password), [plainOf(username)]);
  return isMadeOf(letters, [...serviceNames, lettersOf(username)]);
}

const serviceNames = ['model', 'project', 'service', 'mps'];

const plainOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
const lettersOf = (text: string): string => plainOf(text).replace(/\P{L}/gu, '');

/** Whether a text is a sequence of these words, each forwards or backwards. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  const both = words.flatMap((word) => (word === '' ? [] : [word, [...word].reverse().join('')]));
  const reached = new Set([0]);
  for (let end = 1; end <= text.length; end += 1)
    if (both.some((word) => reached.has(end - word.length) && text.endsWith(word, end))) reached.add(end);
  return text !== '' && reached.has(text.length);
}
