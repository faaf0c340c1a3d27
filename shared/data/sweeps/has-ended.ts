import type { SweepStatus } from './sweep.ts';

/** Whether a sweep begins no run any more, unless it is extended or failed runs are tried again. */
export const hasEnded = ({ status }: { status: SweepStatus }): boolean =>
  status !== 'RUNNING' && status !== 'PAUSED';
