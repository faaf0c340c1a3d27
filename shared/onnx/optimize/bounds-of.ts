import { totalmem } from 'node:os';
import type { Bounds } from '../stage/stage-bounds.ts';

const seconds = 3600;
/** The rest is for the system, its file cache and the supervisor. */
const share = 0.75;

/** What a stage may take where nobody says: three quarters of the memory that this process could have, and an hour. */
export function boundsOf(limits: Partial<Bounds> | undefined): Bounds {
  // Zero, or more than there is, where no control group sets a limit.
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    memoryBytes: limits?.memoryBytes ?? Math.floor(memory * share),
    seconds: limits?.seconds ?? seconds,
  };
}
