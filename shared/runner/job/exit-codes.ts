/** Exit codes of the container, by which Batch knows success from failure. The record has the reason. */
export const exitCodes = { succeeded: 0, failed: 1, interrupted: 143 } as const;
