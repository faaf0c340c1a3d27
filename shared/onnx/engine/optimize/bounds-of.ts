import { totalmem } from 'node:os';
import type { Bounds } from '../process/stage-bounds.ts';

const seconds = 3600;
/** The rest is left for the system, its file cache and the supervisor. */
const share = 0.75;

/** Default limits of a stage: three quarters of the memory that this process could have, and an hour. */
export function boundsOf(limits: Partial<Bounds> | undefined): Bounds {
  // Zero, or more than there is, where no control group sets a limit.
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    memoryBytes: limits?.memoryBytes ?? Math.floor(memory * share),
    seconds: limits?.seconds ?? seconds,
  };
}

/** A session holds the weights of the file and the form that its kernels want them in, and works on the rest. */
const sessionShare = 2.5;
const processBytes = 400 * 2 ** 20;

/** Whether sessions of models with weights of so many bytes have room side by side. */
export const fitInMemory = ({ memoryBytes }: Bounds, ...weightBytes: readonly number[]): boolean =>
  weightBytes.reduce((sum, bytes) => sum + bytes * sessionShare, processBytes) <= memoryBytes;
