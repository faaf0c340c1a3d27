import { ServiceError } from '../../core/service-error.ts';

/**
 * Most bytes of a body of fields, unless its definition says otherwise: the longest fields there are, two of 4,000
 * characters, take 48,000 each when they are written as escapes of 12 bytes.
 */
export const fieldsMaxBytes = 128 * 1024;

/** The same where anybody may send one: a name of 64 characters and a password of 256, both in escapes, are far less. */
export const signInMaxBytes = 8 * 1024;

/** 413 for a body beyond a limit of bytes. */
export function tooLargeBody(most: number, bytes?: number): ServiceError {
  const has =
    bytes === undefined ? `is larger than ${most} bytes` : `has ${bytes} bytes; at most ${most} are taken`;
  return new ServiceError('too-large', `The body ${has}.`);
}
