import * as z from 'zod';
import { Username } from '../../shared/data/accounts/user.ts';

/** Path parameters of everything about one user by name. */
export const userPath = z.strictObject({ username: Username.describe('Name of the user, such as `ada`.') });
