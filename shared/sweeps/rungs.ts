import type { RungReport } from './types.ts';

/** Where a sweep compares its trials: the rule, the first step, and the factor between rungs of ASHA. */
export interface Rungs {
  rule: 'asha' | 'median';
  step_min: number;
  reduction: number;
}

/**
 * Return the rungs that a trial has reached, each with the first value reported at its step or later.
 * ASHA's rungs lie at `step_min × reduction^rung`, those of the median rule at every multiple of `step_min`.
 * @param from number of the first rung that was not reported yet
 */
export function reachedRungs(
  { trial, from }: { trial: number; from: number },
  rungs: Rungs,
  points: readonly { step: number; value: number }[],
): RungReport[] {
  const reached: RungReport[] = [];
  for (const { step, value } of points) {
    const rung = from + reached.length;
    if (step >= rungStep(rungs, rung)) reached.push({ trial, rung, step, value });
  }
  return reached;
}

/** Return the step at which a rung lies. */
export const rungStep = ({ rule, step_min, reduction }: Rungs, rung: number): number =>
  rule === 'asha' ? step_min * reduction ** rung : step_min * (rung + 1);
