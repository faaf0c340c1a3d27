import { useLayoutEffect, useMemo } from 'preact/hooks';
import { useBrushes } from '../../charts/parallel/use-brushes.ts';
import { type Axis, isVarying } from '../../charts/values/axis.ts';
import { Scatter } from '../../charts/values/scatter-plot.tsx';
import type { Row } from '../../runs/row.ts';
import { go, place, setQuery } from '../../ui/router.ts';
import { Empty } from '../../ui/states/empty.tsx';
import type { Judge } from '../sort-rows.ts';
import { addressOf } from '../table-row.tsx';
import { axesOfRows } from './axes-of-rows.ts';
import { ExperimentsParallel } from './experiments-parallel.tsx';
import { correlation } from './rank-correlation.ts';
import { useShades } from './use-shades.ts';

/** Return the numeric axis that is correlated most with another; the first other one if none is numeric. */
function mostRelated(axes: readonly Axis[], y: Axis | undefined): Axis | undefined {
  const others = axes.filter((axis) => axis !== y);
  const strength = (axis: Axis): number =>
    y === undefined || axis.words.length > 0 || axis.isOutcome ? -1 : closeness(axis, y);
  return others.reduce<Axis | undefined>(
    (best, axis) => (best === undefined || strength(axis) > strength(best) ? axis : best),
    undefined,
  );
}

/** Return how closely the places on two axes follow a line: from 0 to 1. */
function closeness(x: Axis, y: Axis): number {
  const pairs = x.units.flatMap((unit, index) => {
    const second = y.units[index];
    return unit === undefined || second === undefined ? [] : [[x.placeOf(unit), y.placeOf(second)] as const];
  });
  const [xs, ys] = [pairs.map(([atX]) => atX), pairs.map(([, atY]) => atY)];
  return Math.abs(correlation(xs, ys) ?? 0);
}

/** Params and metrics of the table's experiments: one against another, and all as parallel coordinates. */
export function ValuesPanel({
  experiments,
  judge,
  onBrushed,
}: {
  experiments: readonly Row[];
  judge: Judge | undefined;
  /** Called with the rows that the brushes of the address choose; undefined without a brush. */
  onBrushed: (rows: readonly Row[] | undefined) => void;
}) {
  const axes = useMemo(
    () => axesOfRows(experiments, judge).filter(isVarying),
    [experiments, judge?.name, judge?.goal],
  );
  const { brushes, chosen } = useBrushes(axes, experiments.length);
  useLayoutEffect(() => {
    onBrushed(brushes.size > 0 ? experiments.filter((_, index) => chosen[index] === true) : undefined);
  }, [experiments, chosen, brushes.size]);
  const { outcomes, by, ranks } = useShades(axes, judge, true);
  const { query } = place.value;
  const find = (setting: string) => axes.find(({ name }) => name === query.get(setting));
  const y = find('scatter-y') ?? by ?? outcomes[0] ?? axes[1];
  const x = find('scatter-x') ?? mostRelated(axes, y);
  if (x === undefined || y === undefined)
    return <Empty title="The experiments do not differ in any value" icon="chart" />;
  const choice = (label: string, setting: string, value: string) => (
    <label class="group-by">
      <span class="hidden">{label}</span>
      <select value={value} onChange={({ currentTarget }) => setQuery({ [setting]: currentTarget.value })}>
        {axes.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <section class="values-panel" aria-label="Values">
      <div>
        <ExperimentsParallel experiments={experiments} judge={judge} isShaded />
      </div>
      <div>
        <div class="bar-row">
          {choice('Vertical axis', 'scatter-y', y.name)}
          <span class="soft small">by</span>
          {choice('Horizontal axis', 'scatter-x', x.name)}
        </div>
        <Scatter
          title={
            <strong class="ellipsis">
              <bdi>{y.name}</bdi> <span class="soft">by</span> <bdi>{x.name}</bdi>
            </strong>
          }
          label={`${y.name} by ${x.name}.`}
          x={x}
          y={y}
          items={experiments}
          ranks={ranks}
          chosen={chosen}
          height={300}
          onOpen={(row) => go(addressOf(row))}
        />
      </div>
    </section>
  );
}
