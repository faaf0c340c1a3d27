import { useMemo } from 'preact/hooks';
import { LineSample } from '../../charts/line-sample.tsx';
import { Parallel } from '../../charts/parallel/parallel-coordinates.tsx';
import { useBrushes } from '../../charts/parallel/use-brushes.ts';
import { isVarying } from '../../charts/values/axis.ts';
import { ShadeKey } from '../../charts/values/shade-key.tsx';
import type { Row } from '../../runs/row.ts';
import { stylesOf } from '../../theme/colours.ts';
import { go, setQuery } from '../../ui/router.ts';
import { useShowMore } from '../../ui/show-more.tsx';
import { Empty } from '../../ui/states/empty.tsx';
import { CutName } from '../../ui/text/cut-name.tsx';
import type { Judge } from '../sort-rows.ts';
import { addressOf } from '../table-row.tsx';
import { axesOfRows } from './axes-of-rows.ts';
import { useShades } from './use-shades.ts';

/** Number of experiments up to which each has a colour of its own. */
const maxOwn = 50;

/** Parallel coordinates of experiments, in their own colours or by a metric. */
export function ExperimentsParallel({
  experiments,
  judge,
  isShaded = experiments.length > maxOwn,
}: {
  experiments: readonly Row[];
  judge: Judge | undefined;
  /** Whether a metric always colours them. */
  isShaded?: boolean;
}) {
  const axes = useMemo(
    () => axesOfRows(experiments, judge).filter(isVarying),
    [experiments, judge?.name, judge?.goal],
  );
  const { brushes, chosen } = useBrushes(axes, experiments.length);
  const styles = useMemo(
    () =>
      isShaded ? new Map<string, number>() : stylesOf(experiments.map(({ experiment_id }) => experiment_id)),
    [experiments, isShaded],
  );
  const items = useMemo(
    () => experiments.map((row) => ({ ...row, style: styles.get(row.experiment_id) })),
    [experiments, styles],
  );
  const { outcomes, by, isMinimized, ranks } = useShades(axes, judge, isShaded);
  const [listed, more] = useShowMore(items, maxOwn, 'experiments');
  if (axes.length < 2) return <Empty title="The experiments do not differ in any value" icon="chart" />;
  return (
    <>
      <div class="bar-row">
        <label class="group-by">
          <span class="hidden">Colour by</span>
          <select
            value={by?.name ?? ''}
            onChange={({ currentTarget }) => setQuery({ colour: currentTarget.value || undefined })}
          >
            {!isShaded && <option value="">Colour by experiment</option>}
            {outcomes.map(({ name }) => (
              <option key={name} value={name}>
                Colour by {name}
              </option>
            ))}
          </select>
        </label>
        {by !== undefined && <ShadeKey axis={by} isMinimized={isMinimized} />}
      </div>
      <Parallel
        items={items}
        axes={axes}
        ranks={ranks}
        brushes={brushes}
        chosen={chosen}
        what="experiments"
        onOpen={(row) => go(addressOf(row))}
      />
      {by === undefined && (
        <ul class="legend in-rows">
          {listed.map(({ experiment_id, name, style }) => (
            <li key={experiment_id}>
              <LineSample style={style ?? 0} />
              <CutName name={name} />
            </li>
          ))}
          {more}
        </ul>
      )}
    </>
  );
}
