import { paused, sweepAction } from './sweep-action.ts';

export const endpoint = sweepAction({
  name: 'pauseSweep',
  path: '/projects/{project_id}/sweeps/{sweep_id}/pause',
  summary: 'Pause a sweep',
  description: 'No further experiment begins; those that run go on.',
  act: (sweep, { caller }) => paused(sweep, caller),
});
