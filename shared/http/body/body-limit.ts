import { ServiceError } from '../../core/service-error.ts';

/**
 * Default maximum bytes of a body of fields. The longest fields, two of 4,000 characters, take 48,000 bytes each
 * if every character is an escape of 12 bytes.
 */
export const fieldsMaxBytes = 128 * 1024;

/**
 * Maximum bytes of a body that callers send before they sign in. A name of 64 characters and a password of 256
 * fit, even as escapes.
 */
export const signInMaxBytes = 8 * 1024;

/** Return the error for a body of too many bytes. */
export function tooLargeBody(most: number, bytes?: number): ServiceError {
  const has =
    bytes === undefined ? `is larger than ${most} bytes` : `has ${bytes} bytes; at most ${most} are allowed`;
  return new ServiceError('too-large', `The body ${has}.`);
}
