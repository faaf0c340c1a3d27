import * as z from 'zod';
import { createFirstAdmin, firstAdminName } from '../../shared/accounts/first-admin.ts';
import { hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { type RuntimeReport, reportRuntime } from '../../shared/accounts/hashing-runtime.ts';
import { newPasswordOf } from '../../shared/accounts/password-rules.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import { defineTask, taskHandler } from '../../shared/http/definition/task.ts';

const Request = z.strictObject({ password: newPasswordOf(firstAdminName) });
/** Request of `npm run doctor`: check that passwords can be hashed in this runtime. It creates nothing. */
const Check = z.strictObject({ check: z.literal('runtime') });

/** The result of the function; errors that the caller can fix are results, not exceptions. */
export const FirstAdminAnswer = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), username: z.string() }),
  z.object({ outcome: z.literal('refused'), reason: z.enum(['admin-exists', 'name-taken']) }),
  z.object({ outcome: z.literal('bad-password'), message: z.string() }),
]);
export type FirstAdminAnswer = z.infer<typeof FirstAdminAnswer>;

/**
 * Create the first admin, once. No route leads to this function: only principals that IAM allows can invoke it.
 */
export const event = defineTask({
  name: 'createFirstAdmin',
  needs: { accounts: writePasswords },
  runtime: hashingRuntime,

  async run(received: unknown, { accounts, now, log }): Promise<FirstAdminAnswer | RuntimeReport> {
    if (Check.safeParse(received).success) return reportRuntime();
    const request = Request.safeParse(received);
    if (!request.success) {
      const message = request.error.issues[0]?.message ?? 'is no good';
      return { outcome: 'bad-password', message };
    }
    const result = await createFirstAdmin(accounts, request.data.password, now());
    if ('refused' in result) return { outcome: 'refused', reason: result.refused };
    log.info('first-admin', { user_id: result.created.user_id });
    return { outcome: 'created', username: result.created.username };
  },
});

export const handler = taskHandler(event);
