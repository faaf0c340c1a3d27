/** Return the mask of the subnets of a new deployment: each job has an address of its own, 16,379 in each of up to four zones. */
export const newSubnetMask = (zones: readonly string[]): number => (zones.length > 4 ? 19 : 18);
