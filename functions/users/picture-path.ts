import * as z from 'zod';
import { Username } from '../../shared/data/user.ts';

export const picturePath = z.strictObject({ username: Username });
