import { useRef } from 'preact/hooks';
import type { JudgedBy } from '../../../../../shared/metrics/criteria.ts';
import { metricOf } from '../../runs/row.ts';
import { Menu } from '../../ui/controls/menu.tsx';
import { Icon } from '../../ui/icon.tsx';
import { go, href } from '../../ui/router.ts';
import { LazyChart } from '../lazy-chart.tsx';
import type { Drawable } from '../reading/drawable.ts';
import type { RunCurves } from '../reading/run-curves.ts';
import type { ListedRun } from '../run-list.tsx';
import { SingleMetric } from '../single-values.tsx';
import { axisOf } from '../values/axis.ts';
import { Scatter } from '../values/scatter-plot.tsx';
import type { ChartView } from '../view.ts';
import { ChartPlace, plotHeightOf } from './chart-place.tsx';
import { inGivenOrder, type Panel, panelText } from './layout.ts';
import { chartOrder, chartSize, panels, removePanel } from './panel-view.ts';
import { PlaceActions } from './place-actions.tsx';

interface Drawn {
  runs: readonly ListedRun[];
  drawables: readonly Drawable[];
  read: RunCurves;
  view: ChartView;
  judge: JudgedBy | undefined;
}

/** Charts that somebody put together, before those of single metrics. */
export function CustomPanels(drawn: Drawn) {
  const byName = new Map(panels().map((panel) => [panelText(panel), panel]));
  const among = inGivenOrder([...byName.keys()], chartOrder());
  if (among.length === 0) return null;
  return (
    <section class="charts custom-panels" aria-label="Panels">
      {among.map((name) => {
        const panel = byName.get(name);
        if (panel === undefined) return null;
        return panel.kind === 'lines' ? (
          <LazyChart key={name} name={name} metrics={panel.metrics} among={among} {...drawn} />
        ) : (
          <ValuesPanel key={name} name={name} panel={panel} among={among} {...drawn} />
        );
      })}
    </section>
  );
}

/** Last values of the runs: one metric against another as points, or as bars. */
function ValuesPanel({
  name,
  panel: { kind, metrics },
  among,
  runs,
  drawables,
  judge,
}: Drawn & { name: string; panel: Panel; among: readonly string[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const { high } = chartSize(name);
  const title = kind === 'scatter' ? `${metrics[1]} by ${metrics[0]}` : metrics.join(', ');
  const axes = metrics.map((metric) =>
    axisOf(
      metric,
      drawables.map((run) => metricOf(run, metric)),
    ),
  );
  const [x, y] = axes;
  const head = (
    <>
      <strong class="ellipsis" title={title}>
        <bdi>{title}</bdi>
      </strong>
      <span class="chart-tools">
        <Menu label={`More for the chart of ${title}`} button={<Icon name="dots" />}>
          <PlaceActions name={name} among={among} />
          <button type="button" onClick={() => removePanel(name)}>
            Remove
          </button>
        </Menu>
      </span>
    </>
  );
  return (
    <ChartPlace name={name} among={among} holder={holder}>
      {kind === 'scatter' && x !== undefined && y !== undefined ? (
        <Scatter
          title={head}
          label={`${title}.`}
          x={x}
          y={y}
          items={drawables}
          chosen={drawables.map(() => true)}
          height={plotHeightOf(high)}
          onOpen={({ project_id, experiment_id }) =>
            go(href(['projects', project_id, 'experiments', experiment_id]))
          }
        />
      ) : (
        <figure class="chart bars">
          <figcaption draggable>{head}</figcaption>
          <div tabIndex={0} role="group" aria-label={title}>
            {metrics.map((metric) => (
              <SingleMetric
                key={metric}
                name={metric}
                judge={judge}
                values={runs.flatMap((run, index) => {
                  const drawable = drawables[index];
                  const value = drawable && metricOf(drawable, metric);
                  return value === undefined ? [] : [{ ...run, value }];
                })}
              />
            ))}
          </div>
        </figure>
      )}
    </ChartPlace>
  );
}
