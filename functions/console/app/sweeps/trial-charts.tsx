import { useMemo } from 'preact/hooks';
import type { Sweep } from '../api/sweeps.ts';
import type { Brushes } from '../charts/parallel/brushes.ts';
import { Parallel } from '../charts/parallel/parallel-coordinates.tsx';
import { type Axis, axisOf, isVarying } from '../charts/values/axis.ts';
import { ranksOf } from '../charts/values/ranks.ts';
import { Scatter } from '../charts/values/scatter-plot.tsx';
import { ShadeKey } from '../charts/values/shade-key.tsx';
import { go } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { ImportancePanel } from './importance/importance-panel.tsx';
import { type Trial, trialLook } from './trial-columns.tsx';

const drawnFirst = 12;

/** Return an axis for each parameter that the trials differ in, and one for the metric if any has a value. */
export function axesOfTrials(
  { metric, parameters }: Pick<Sweep, 'metric' | 'parameters'>,
  trials: readonly Pick<Trial, 'params' | 'value'>[],
): TrialAxes {
  const names = new Set([...Object.keys(parameters), ...trials.flatMap(({ params }) => Object.keys(params))]);
  const inputs = [...names].flatMap((name) => {
    const { scale, min } = (parameters[name] ?? {}) as { scale?: string; min?: number };
    const axis = axisOf(
      name,
      trials.map(({ params }) => (Object.hasOwn(params, name) ? params[name] : undefined)),
      min === undefined ? {} : { isLog: scale === 'log' },
    );
    return axis !== undefined && isVarying(axis) ? [axis] : [];
  });
  const outcome = axisOf(
    metric,
    trials.map(({ value }) => value),
    { isOutcome: true },
  );
  return { inputs, outcome, all: outcome === undefined ? inputs : [...inputs, outcome] };
}

interface TrialAxes {
  inputs: readonly Axis[];
  outcome: Axis | undefined;
  all: readonly Axis[];
}

/** Parallel coordinates of the trials, the importance of each parameter, and the metric over each parameter. */
export function TrialCharts({
  sweep,
  trials,
  axes: { inputs, outcome, all },
  brushes,
  chosen,
}: {
  sweep: Sweep;
  trials: readonly Trial[];
  axes: TrialAxes;
  brushes: Brushes;
  chosen: readonly boolean[];
}) {
  const isMinimized = sweep.goal === 'minimize';
  const ranks = useMemo(() => outcome && ranksOf(outcome.units, isMinimized), [outcome, isMinimized]);
  const [drawn, more] = useShowMore(inputs, drawnFirst, 'parameters');
  const open = (trial: Trial): void => go(trialLook(sweep).addressOf(trial));
  if (inputs.length === 0 || outcome === undefined) return null;
  return (
    <>
      <section aria-label="Parameters and metric">
        <div class="panel-head">
          <h2>Parallel coordinates</h2>
          <ShadeKey axis={outcome} isMinimized={isMinimized} />
        </div>
        <Parallel
          items={trials}
          axes={all}
          ranks={ranks}
          brushes={brushes}
          chosen={chosen}
          what="trials"
          onOpen={open}
        />
      </section>
      <ImportancePanel inputs={inputs} outcome={outcome} />
      <section aria-label="Each parameter against the metric">
        <h2>
          Each parameter against <bdi>{sweep.metric}</bdi>
        </h2>
        <div class="charts">
          {drawn.map((axis) => (
            <Scatter
              key={axis.name}
              title={
                <strong class="ellipsis" title={axis.name}>
                  <bdi>{axis.name}</bdi>
                </strong>
              }
              label={`${outcome.name} by ${axis.name}.`}
              x={axis}
              y={outcome}
              items={trials}
              ranks={ranks}
              chosen={chosen}
              onOpen={open}
            />
          ))}
        </div>
        {more}
      </section>
    </>
  );
}
