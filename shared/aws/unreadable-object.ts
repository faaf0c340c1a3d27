/**
 * Whether storage has an object and cannot give its bytes, however often it is asked: damaged ones of the local emulator,
 * archived ones of S3. The message names it.
 */
export const isUnreadableObject = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'InvalidObjectState';
