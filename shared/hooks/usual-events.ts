import type { HookEvent } from '../data/hooks/hook.ts';

/**
 * Events of a hook for which nobody chose others: what started has ended, or needs somebody. A cancellation by a person
 * is not among them, because that person knows.
 */
export const usualEvents = [
  'experiment.succeeded',
  'experiment.failed',
  'experiment.stopped',
  'metric.rule',
  'sweep.ended',
  'budget.reached',
] as const satisfies readonly HookEvent[];
