import type { HookEvent } from '../data/hooks/hook.ts';

/**
 * Default events of a hook: a job has ended or needs attention. A cancellation by a person is not among them, because
 * that person knows.
 */
export const usualEvents = [
  'experiment.succeeded',
  'experiment.failed',
  'experiment.stopped',
  'metric.rule',
  'sweep.ended',
  'schedule.paused',
  'budget.reached',
] as const satisfies readonly HookEvent[];
