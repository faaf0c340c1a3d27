import { ServiceError } from '../../core/service-error.ts';
import type { Ambient } from './endpoint-context.ts';

/**
 * Refuses a change that was made for another state than the present one (RFC 9110, 13.1): `If-Match` with another
 * version, or with any where there is nothing; `If-None-Match: *` where there is something.
 * `current` is the record's version, undefined where there is none yet.
 */
export function requirePrecondition(
  { header, expectedVersion }: Pick<Ambient, 'header' | 'expectedVersion'>,
  current: number | undefined,
): void {
  if (current === undefined) {
    if (header('If-Match') === undefined) return;
    throw new ServiceError('precondition-failed', 'If-Match asks for an earlier version, and there is none.');
  }
  if (header('If-None-Match')?.trim() === '*') {
    throw new ServiceError(
      'precondition-failed',
      `If-None-Match asks for nothing to be there, but version ${current} is.`,
    );
  }
  if (expectedVersion === undefined || expectedVersion === current) return;
  throw new ServiceError(
    'precondition-failed',
    `If-Match names version ${expectedVersion}, but the present one is ${current}. Read it again and repeat the change.`,
  );
}
