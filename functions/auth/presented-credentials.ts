import * as z from 'zod';
import { PresentedPassword } from '../../shared/accounts/password-rules.ts';

/** With what somebody signs in. */
export const presentedCredentials = {
  // Not the rule for new names: an impossible name gets the same response as an unknown one.
  username: z
    .string()
    .min(1, 'is blank')
    .max(64, 'is longer than 64 characters')
    .toLowerCase()
    .describe('Name of the user.'),
  password: PresentedPassword.describe('Password of the user.'),
};
