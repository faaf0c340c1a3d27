/**
 * Whether S3 has an object but can never return its bytes: the object is archived, or damaged in the local
 * emulator. The message names it.
 */
export const isUnreadableObject = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'InvalidObjectState';
