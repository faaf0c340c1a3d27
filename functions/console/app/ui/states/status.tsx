import { Icon, type IconName } from '../icon.tsx';
import { type Ended, shownStatus } from './shown-status.ts';

const looks: Readonly<Record<string, { tone: string; icon: IconName; label: string }>> = {
  CREATED: { tone: 'warn', icon: 'clock', label: 'Created' },
  SUBMITTED: { tone: 'warn', icon: 'clock', label: 'Submitted' },
  PENDING: { tone: 'warn', icon: 'clock', label: 'Waiting' },
  RUNNABLE: { tone: 'warn', icon: 'clock', label: 'Waiting' },
  STARTING: { tone: 'accent', icon: 'bolt', label: 'Starting' },
  RUNNING: { tone: 'accent', icon: 'play', label: 'Running' },
  SUCCEEDED: { tone: 'good', icon: 'check', label: 'Succeeded' },
  FAILED: { tone: 'bad', icon: 'cross', label: 'Failed' },
  CANCELLED: { tone: 'soft', icon: 'slash', label: 'Cancelled' },
  // Of sweeps, and of their trials.
  PAUSED: { tone: 'warn', icon: 'pause', label: 'Paused' },
  COMPLETED: { tone: 'good', icon: 'check', label: 'Completed' },
  complete: { tone: 'good', icon: 'check', label: 'Complete' },
  running: { tone: 'accent', icon: 'play', label: 'Running' },
  failed: { tone: 'bad', icon: 'cross', label: 'Failed' },
  cancelled: { tone: 'soft', icon: 'slash', label: 'Cancelled' },
  'stopped early': { tone: 'soft', icon: 'stop', label: 'Stopped early' },
};

/** State as colour, icon and word, so no user depends on only one of them. */
export function Status({ status, large = false }: { status: string; large?: boolean }) {
  const { tone, icon, label } = looks[status] ?? { tone: 'soft', icon: 'clock' as const, label: status };
  // Success is the common state of a list. It needs no colour behind it.
  const isRunning = status === 'RUNNING' || status === 'running';
  const look = large ? ' large' : tone === 'good' ? ' plain' : isRunning ? ' live' : '';
  return (
    <span class={`status tone-${tone}${look}${large && isRunning ? ' live' : ''}`}>
      <Icon name={icon} size={large ? 16 : 13} />
      {label}
    </span>
  );
}

/** State of a run. */
export const RunStatus = ({ run, large = false }: { run: Ended; large?: boolean }) => (
  <Status status={shownStatus(run)} large={large} />
);

const finals = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED']);
export const isFinal = (status: string): boolean => finals.has(status);
