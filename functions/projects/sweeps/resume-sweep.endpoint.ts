import { resumed, sweepAction } from './sweep-action.ts';

export const endpoint = sweepAction({
  name: 'resumeSweep',
  path: '/projects/{project_id}/sweeps/{sweep_id}/resume',
  summary: 'Resume a paused sweep',
  description: 'After its budget was raised, or the reason of its pause is gone.',
  work: 'page: as many experiments as begin in 12 s',
  act: (sweep, { caller }) => resumed(sweep, caller),
});
