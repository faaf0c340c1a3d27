import type { Sweep } from '../api/sweeps.ts';
import { costText, plural } from '../ui/text/format.ts';
import { endedOf } from './sweep-text.ts';

/** Experiments of a sweep by how they ended, as parts of a bar. */
export function ProgressBar({ sweep }: { sweep: Sweep }) {
  const { counts, trials, repeats } = sweep;
  const all = Math.max(1, trials * repeats);
  const parts = [
    { kind: 'good', count: counts.complete, name: 'complete' },
    { kind: 'soft', count: counts.stopped_early, name: 'stopped early' },
    { kind: 'bad', count: counts.failed, name: 'failed' },
    { kind: 'edge', count: counts.cancelled, name: 'cancelled' },
    { kind: 'live', count: counts.running, name: 'running' },
  ].filter(({ count }) => count > 0);
  const told = parts.map(({ count, name }) => `${count.toLocaleString('en')} ${name}`).join(', ');
  return (
    <div class="sweep-bar" title={told}>
      <span class="number">
        {endedOf(sweep).toLocaleString('en')} of {all.toLocaleString('en')}
      </span>
      <span
        class="sweep-track"
        role="img"
        aria-label={told === '' ? `none of ${plural(all, 'experiment')} has begun` : told}
      >
        {parts.map(({ kind, count }) => (
          <i key={kind} class={kind} style={{ width: `${(count / all) * 100}%` }} />
        ))}
      </span>
    </div>
  );
}

/** What a sweep has cost, as a part of its budget. */
export function CostBar({ sweep: { spent, budget } }: { sweep: Sweep }) {
  if (spent === null || budget === null) return null;
  const share = Math.min(1, spent / budget);
  return (
    <span
      class="sweep-track"
      role="img"
      aria-label={`${costText(spent)} of the budget of ${costText(budget)} is spent`}
    >
      <i class={share >= 0.9 ? 'bad' : 'good'} style={{ width: `${share * 100}%` }} />
    </span>
  );
}
