import { median } from '../../../infra/local/bench/figure.ts';
import { isMemoryCase } from './cases.ts';
import type { Compared } from './compare-case.ts';

const mb = 1e6;

/** Bounds of a comparison. */
const bounds = {
  time: 1.0,
  medianTime: 0.5,
  memory: 1.2,
  /** Below this many bytes memory is not counted as a ratio. */
  memoryBytes: 400 * mb,
  manySamplesMemory: 0.25,
  scale: 1e-6,
  error: 1.05,
  latency: 1.05,
} as const;

export const timeRatio = ({ taken }: Compared): number => taken.ours.seconds / taken.reference.seconds;
export const processorRatio = ({ taken }: Compared): number =>
  taken.ours.cpu_seconds / taken.reference.cpu_seconds;
export const memoryRatio = ({ taken }: Compared): number =>
  taken.ours.peak_bytes / taken.reference.peak_bytes;

/** Relative to that of the reference; 1 where neither result differs from its model. */
export function errorRatio({ judged: { error } }: Compared): number {
  return error.reference === 0
    ? error.ours === 0
      ? 1
      : Number.POSITIVE_INFINITY
    : error.ours / error.reference;
}

function memoryBound({ of, taken }: Compared): number {
  if (isMemoryCase(of)) return bounds.manySamplesMemory * taken.reference.peak_bytes;
  return Math.max(bounds.memory * taken.reference.peak_bytes, bounds.memoryBytes);
}

/** The bounds that a case misses, in words; none where all are met. */
export function missed(compared: Compared): string[] {
  const { of, taken, judged } = compared;
  const { weights, biases, activations, latency } = judged;
  const faults: string[] = [];
  const time = timeRatio(compared);
  if (time > bounds.time) faults.push(`time ${time.toFixed(2)} × > ${bounds.time} ×`);
  if (taken.ours.peak_bytes > memoryBound(compared)) {
    faults.push(
      `memory ${Math.round(taken.ours.peak_bytes / mb)} MB > ${Math.round(memoryBound(compared) / mb)} MB`,
    );
  }
  if (weights.equal < weights.of) {
    faults.push(`${weights.of - weights.equal} constants of weights differ: ${weights.differing.join(', ')}`);
  }
  if (of.method === 'static_minmax' && biases.equal < biases.of) {
    faults.push(`${biases.of - biases.equal} constants of biases differ: ${biases.differing.join(', ')}`);
  }
  if (of.method === 'static_minmax' && (activations.largest ?? 0) > bounds.scale) {
    faults.push(`scales of activations differ by ${activations.largest}`);
  }
  if (of.method === 'static_minmax' && activations.zero_points_equal < activations.shared) {
    faults.push(`${activations.shared - activations.zero_points_equal} zero points of activations differ`);
  }
  const error = errorRatio(compared);
  if (error > bounds.error) faults.push(`error ${error.toFixed(3)} × > ${bounds.error} ×`);
  if (latency.interval[0] > bounds.latency) {
    faults.push(`latency from ${latency.interval[0].toFixed(3)} × > ${bounds.latency} ×`);
  }
  return faults;
}

/** The bound on the median case. */
export function medianTime(all: readonly Compared[]): { ratio: number; bound: number; isMet: boolean } {
  const ratio = median(all.map(timeRatio));
  return { ratio, bound: bounds.medianTime, isMet: ratio <= bounds.medianTime };
}
