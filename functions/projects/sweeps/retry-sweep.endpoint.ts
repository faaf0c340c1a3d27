import { retried, sweepAction } from './sweep-action.ts';

export const endpoint = sweepAction({
  name: 'retrySweep',
  path: '/projects/{project_id}/sweeps/{sweep_id}/retry',
  summary: 'Begin the failed experiments of a sweep once more',
  description:
    'Each begins with the same values as a new experiment of its run, from the checkpoints that the failed one left. The sweep runs again if it has ended.',
  work: 'page: reads at most 10,000 runs; as many experiments as begin in 12 s',
  act: retried,
});
