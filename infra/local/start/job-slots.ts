import { availableParallelism } from 'node:os';

/** Trainings and optimizations that run at once on this machine. */
export const jobSlots = (): number => Math.max(2, availableParallelism());

/**
 * Jobs of one user that may be handed to the Batch server at once: those that can run, and two, so that the next one is
 * there when one ends. With more, one user's jobs would take all vCPUs of the deployment, and another's first job would
 * wait for the end of one that only waits itself.
 */
export const placesOfUser = (): number => jobSlots() + 2;
