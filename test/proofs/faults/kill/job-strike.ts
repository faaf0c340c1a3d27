import type { TracedCall } from '../injection/middleware.ts';
import type { When } from '../injection/plan.ts';

/**
 * `plain` ends with the container that is killed; `again` has Batch run another attempt; in `late` the submission is
 * left to the reconciler; in `cancelled` somebody wishes the running job to end; in `waiting` another job has the place
 * that it needs, until that one ends.
 */
export const scenarios = ['plain', 'again', 'late', 'cancelled', 'waiting'] as const;
export type Scenario = (typeof scenarios)[number];

export type Role = 'create' | 'event' | 'container' | 'cancel' | 'pass';

/** A kill: which process, and where in its life. */
export interface Strike {
  scenario: Scenario;
  role: Role;
  /** Its n-th external call, or the first one at a named point. */
  at: number | string;
  when: When;
  /** Which event's process, from 0. */
  event?: number;
  /** Which of a job's containers, where it has several: the one that builds its environment, or a node but the main one. */
  part?: string;
  /** Whether an event whose process was killed never comes again. */
  isLost?: boolean;
}

export interface Life {
  /** Whether the process lived long enough to be killed. */
  isHit: boolean;
  /** What was found that must not be. */
  faults: string[];
  calls: TracedCall[];
  status: string;
}
