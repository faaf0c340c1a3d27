import { ServiceError } from '../../core/service-error.ts';

/**
 * Most bytes of a body of fields by default. The longest fields, two of 4,000 characters, take 48,000 bytes each if
 * every character is an escape of 12 bytes.
 */
export const fieldsMaxBytes = 128 * 1024;

/**
 * Most bytes of a body that callers send before they sign in. A name of 64 characters and a password of 256 fit, even
 * as escapes.
 */
export const signInMaxBytes = 8 * 1024;

/** The error for a body of too many bytes. */
export function tooLargeBody(most: number, bytes?: number): ServiceError {
  const has =
    bytes === undefined ? `is larger than ${most} bytes` : `has ${bytes} bytes; at most ${most} are taken`;
  return new ServiceError('too-large', `The body ${has}.`);
}
