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
