import { cancelled, sweepAction } from './sweep-action.ts';

export const endpoint = sweepAction({
  name: 'cancelSweep',
  path: '/projects/{project_id}/sweeps/{sweep_id}/cancel',
  summary: 'Cancel a sweep and its running experiments',
  description:
    'A running command gets SIGTERM and 20 seconds to save before it is killed. Experiments that have ended stay.',
  work: 'page: cancels as many experiments as run at once',
  act: (sweep, { caller }) => cancelled(sweep, caller),
});
