/** Exit codes of the container. Batch tells success from failure by them; the record says more. */
export const exitCodes = { succeeded: 0, failed: 1, interrupted: 143 } as const;
