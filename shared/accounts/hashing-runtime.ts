import * as z from 'zod';
import { errorText } from '../core/error-text.ts';
import { hashPassword } from './password.ts';

/** A runtime, and whether it can hash passwords. */
export const RuntimeReport = z.object({
  outcome: z.literal('runtime'),
  node: z.string(),
  openssl: z.string(),
  /** Reason why it cannot hash; undefined if it can. */
  failure: z.string().optional(),
});
export type RuntimeReport = z.infer<typeof RuntimeReport>;

/** Hash a password in this runtime. argon2 needs Node 24.7 and, if Node uses the system's OpenSSL, OpenSSL 3.2. */
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
