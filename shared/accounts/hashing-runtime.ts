import * as z from 'zod';
import { errorText } from '../core/error-text.ts';
import { hashPassword } from './password.ts';

/** Whether a runtime can hash passwords, and what it is. */
export const RuntimeReport = z.object({
  outcome: z.literal('runtime'),
  node: z.string(),
  openssl: z.string(),
  /** Why it cannot; undefined where it can. */
  failure: z.string().optional(),
});
export type RuntimeReport = z.infer<typeof RuntimeReport>;

/** Hash a password in this runtime. argon2 needs Node 24.7 and, where Node uses that of the system, OpenSSL 3.2. */
export async function reportRuntime(): Promise<RuntimeReport> {
  const { node, openssl } = process.versions;
  try {
    await hashPassword('a password of nobody');
    return { outcome: 'runtime', node, openssl };
  } catch (error) {
    const failure = errorText(error);
    return { outcome: 'runtime', node, openssl, failure };
  }
}
