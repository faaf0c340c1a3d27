import type { Bounds } from '../stage/stage-bounds.ts';

/** A session holds the weights of the file and the form that its kernels want them in, and works on the rest. */
const sessionShare = 2.5;
const processBytes = 400 * 2 ** 20;

/** Whether sessions of models with weights of so many bytes have room side by side. */
export const fitInMemory = ({ memoryBytes }: Bounds, ...weightBytes: readonly number[]): boolean =>
  weightBytes.reduce((sum, bytes) => sum + bytes * sessionShare, processBytes) <= memoryBytes;
