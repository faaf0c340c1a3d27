import * as z from 'zod';

const maxPattern = 512;
const textPattern = z
  .string()
  .max(maxPattern)
  .regex(
    /^[A-Za-z0-9.:\s]*\*?$/,
    'may hold letters, digits, periods, colons and white space, then one asterisk',
  );
const codePattern = z
  .string()
  .max(maxPattern)
  .regex(/^[0-9]*\*?$/, 'may hold digits, then one asterisk');

/** `retryStrategy` as SubmitJob and a job definition take it, with the limits of AWS Batch. */
export const RetryStrategy = z.object({
  attempts: z.int().min(1).max(10),
  evaluateOnExit: z
    .array(
      z.object({
        // AWS Batch takes the action in any case.
        action: z
          .string()
          .transform((action) => action.toUpperCase())
          .pipe(z.enum(['RETRY', 'EXIT'])),
        onStatusReason: textPattern.optional(),
        onReason: textPattern.optional(),
        onExitCode: codePattern.optional(),
      }),
    )
    .max(5)
    .optional(),
});
export type RetryStrategy = z.infer<typeof RetryStrategy>;

/** How an attempt failed; what is unknown counts as empty, which `*` alone matches. */
interface Failure {
  exitCode?: number | undefined;
  reason?: string | undefined;
  statusReason?: string | undefined;
}

/**
 * Whether a job runs again after its attempt number `attempt` (from 1) failed: attempts must be left, and of the
 * rules the first whose conditions all hold decides. Where none does, AWS Batch retries.
 */
export function isRetried(strategy: RetryStrategy, attempt: number, failure: Failure): boolean {
  if (attempt >= strategy.attempts) return false;
  const exitCode = failure.exitCode?.toString();
  const decisive = strategy.evaluateOnExit?.find(
    (rule) =>
      matches(rule.onStatusReason, failure.statusReason) &&
      matches(rule.onReason, failure.reason) &&
      matches(rule.onExitCode, exitCode),
  );
  return decisive?.action !== 'EXIT';
}

function matches(pattern: string | undefined, value = ''): boolean {
  if (pattern === undefined) return true;
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
