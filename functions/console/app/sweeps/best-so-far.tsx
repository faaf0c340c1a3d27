import { useMemo } from 'preact/hooks';
import type { Sweep } from '../api/sweeps.ts';
import { axisOf } from '../charts/values/axis.ts';
import { Scatter } from '../charts/values/scatter-plot.tsx';
import { go } from '../ui/router.ts';
import { plural } from '../ui/text/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import { type Trial, trialLook } from './trial-columns.tsx';

/** Values of the trials in their order, with the best so far as a line. */
export function BestSoFar({ sweep, trials }: { sweep: Sweep; trials: readonly Trial[] }) {
  const { metric, goal } = sweep;
  // As high as the facts beside it, where there is room for these.
  const height = useNarrow() ? 280 : 400;
  const drawn = useMemo(() => {
    const x = axisOf(
      'trial',
      trials.map(({ trial }) => trial),
      { isLog: false },
    );
    const y = axisOf(
      metric,
      trials.map(({ value }) => value),
      { isOutcome: true },
    );
    return x && y && { x, y };
  }, [trials, metric]);
  const everyTrial = useMemo(() => trials.map(() => true), [trials]);
  const steps = useMemo(() => bestSteps(trials, goal), [trials, goal]);
  const without = trials.filter(({ value, outcome }) => value === null && outcome !== 'running').length;
  if (drawn === undefined)
    return (
      <section class="panel">
        <h2>Best so far</h2>
        <p class="soft small">No trial has a value of {metric} yet.</p>
      </section>
    );
  const best = steps.at(-1)?.[1];
  return (
    <div>
      <Scatter
        title={
          <strong>
            Best <bdi>{metric}</bdi> so far
          </strong>
        }
        label={`${metric} of ${plural(trials.length, 'trial')}${best === undefined ? '' : `, the best ${drawn.y.text(best)}`}.`}
        {...drawn}
        items={trials}
        chosen={everyTrial}
        steps={steps}
        height={height}
        onOpen={(trial) => go(trialLook(sweep).addressOf(trial))}
      />
      {without > 0 && (
        <p class="soft small after">
          {plural(without, 'trial has', 'trials have')} no value{drawn.y.isLog ? '' : ' and no point'}.
        </p>
      )}
    </div>
  );
}

/** Return the corners of the line of the best value so far, up to the last trial. */
export function bestSteps(
  trials: readonly { trial: number; value: number | null }[],
  goal: Sweep['goal'],
): [trial: number, value: number][] {
  const corners: [number, number][] = [];
  let best: number | undefined;
  for (const { trial, value } of trials) {
    if (value === null) continue;
    if (best !== undefined && (goal === 'minimize' ? value >= best : value <= best)) continue;
    best = value;
    corners.push([trial, value]);
  }
  const last = trials.at(-1)?.trial;
  if (best !== undefined && last !== undefined) corners.push([last, best]);
  return corners;
}
