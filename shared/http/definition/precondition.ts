import { ServiceError } from '../../core/service-error.ts';
import type { Ambient } from './endpoint-context.ts';

/**
 * Refuse a change that was made for another state than the current one (RFC 9110, 13.1): `If-Match` with another
 * version or without a record, or `If-None-Match: *` with a record. `current` is the record's version, undefined
 * if there is no record yet.
 */
export function requirePrecondition(
  { header, expectedVersion }: Pick<Ambient, 'header' | 'expectedVersion'>,
  current: number | undefined,
): void {
  if (current === undefined) {
    if (header('If-Match') === undefined) return;
    throw new ServiceError(
      'precondition-failed',
      'If-Match requires an existing version, but there is none.',
    );
  }
  if (header('If-None-Match')?.trim() === '*') {
    throw new ServiceError(
      'precondition-failed',
      `If-None-Match requires that nothing exists, but version ${current} does.`,
    );
  }
  if (expectedVersion === undefined || expectedVersion === current) return;
  throw new ServiceError(
    'precondition-failed',
    `If-Match names version ${expectedVersion}, but the current one is ${current}. Read it again and repeat the change.`,
  );
}
