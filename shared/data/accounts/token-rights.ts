/**
 * Rights that the scope of a token can leave, in ascending order. Each includes all previous ones.
 * - `read`: operations that only read.
 * - `record`: what a tracker writes, such as metrics and artifacts of experiments.
 * - `run`: begin and cancel jobs and sweeps, and upload what they need.
 */
export const tokenRights = ['read', 'record', 'run'] as const;
export type TokenRight = (typeof tokenRights)[number];
