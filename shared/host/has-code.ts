/** Whether an error of the system has one of these codes, such as `ENOENT`. */
export const hasCode = (error: unknown, ...codes: unknown[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(error.code);
