import { median } from '../../bench/figure.ts';
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

/** Whether a case decides speed and size: models of random weights do, trained ones are small and decide accuracy. */
const decidesSpeed = ({ of }: Compared): boolean => of.subject.set === null;

/** What a case misses of the bounds on what quantization and its result take. */
function missedBySpeed(compared: Compared): string[] {
  const { taken, judged } = compared;
  const faults: string[] = [];
  const time = timeRatio(compared);
  if (time > bounds.time) faults.push(`time ${time.toFixed(2)} × > ${bounds.time} ×`);
  if (taken.ours.peak_bytes > memoryBound(compared)) {
    const [peak, most] = [taken.ours.peak_bytes, memoryBound(compared)].map((bytes) =>
      Math.round(bytes / mb),
    );
    faults.push(`memory ${peak} MB > ${most} MB`);
  }
  const [least] = judged.latency.interval;
  if (least > bounds.latency) faults.push(`latency from ${least.toFixed(3)} × > ${bounds.latency} ×`);
  return faults;
}

/** The bounds that a case misses, in words; none where all are met. */
export function missed(compared: Compared): string[] {
  const { of, judged } = compared;
  const { weights, biases, activations } = judged;
  const faults = decidesSpeed(compared) ? missedBySpeed(compared) : [];
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
  return faults;
}

/** The bound on the median case. */
export function medianTime(all: readonly Compared[]): { ratio: number; bound: number; isMet: boolean } {
  const ratio = median(all.filter(decidesSpeed).map(timeRatio));
  return { ratio, bound: bounds.medianTime, isMet: ratio <= bounds.medianTime };
}
