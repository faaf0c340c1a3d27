import type { ComponentChildren } from 'preact';
import { isCounter } from '../runs/metric-order.ts';
import { Button } from '../ui/controls/button.tsx';
import { Menu } from '../ui/controls/menu.tsx';
import { Icon } from '../ui/icon.tsx';
import { metricOfAxis, outlierPercent, type XAxis } from './series.ts';
import { type ChartView, setAt, setAxis, setLog, setSmoothing, setWithoutOutliers, setZoom } from './view.ts';

export const axes: readonly { id: XAxis; name: string }[] = [
  { id: 'step', name: 'Step' },
  { id: 'relative', name: 'Relative' },
  { id: 'time', name: 'Time' },
];

const maxPercent = 99;

/** Return the settings in a few words, for the button that opens them. */
const settingsText = ({ axis, logX, smoothing, isWithoutOutliers }: ChartView): string =>
  [
    metricOfAxis(axis) ?? axes.find(({ id }) => id === axis)?.name,
    logX && 'log x',
    smoothing > 0 && `smoothed ${Math.round(smoothing * 100)} %`,
    isWithoutOutliers && 'no outliers',
  ]
    .filter(Boolean)
    .join(', ');

/** Line of tools for all charts of a page: settings in a menu, and what is shown of the axes. */
export const ChartControls = ({
  view,
  metrics,
  children,
}: {
  view: ChartView;
  metrics: readonly string[];
  children?: ComponentChildren;
}) => {
  const { logX, logY, zoom, at } = view;
  const text = settingsText(view);
  return (
    <div class="chart-controls">
      <Menu
        label={`Chart settings: ${text}`}
        button={
          <>
            <Icon name="sliders" />
            <span class="ellipsis">{text}</span>
          </>
        }
      >
        <AxisChoice view={view} metrics={metrics} />
        <Smoothing view={view} />
        <label class="check" title={`Leave out the highest and the lowest ${outlierPercent} % of the values`}>
          <input
            type="checkbox"
            checked={view.isWithoutOutliers}
            onChange={({ currentTarget }) => setWithoutOutliers(currentTarget.checked)}
          />
          No outliers
        </label>
      </Menu>
      <Button pressed={logY} onClick={() => setLog(logX, !logY)}>
        Log y
      </Button>
      {at !== undefined && (
        <Button kind="quiet" icon="close" onClick={() => setAt(undefined)}>
          Crosshair
        </Button>
      )}
      {zoom !== undefined && (
        <Button kind="quiet" icon="close" onClick={() => setZoom(undefined)}>
          Zoom
        </Button>
      )}
      {children}
    </div>
  );
};

/** Choice of the horizontal axis and its scale. */
const AxisChoice = ({
  view: { axis, logX, logY },
  metrics,
}: {
  view: ChartView;
  metrics: readonly string[];
}) => {
  const byMetric = metricOfAxis(axis);
  // Programs count epochs and samples in metrics of their own. These are the likely axes.
  const offered = [...metrics].sort((a, b) => Number(isCounter(b)) - Number(isCounter(a)));
  return (
    <>
      <div class="segments" role="group" aria-label="Horizontal axis">
        {axes.map(({ id, name }) => (
          <button key={id} type="button" aria-pressed={id === axis} onClick={() => setAxis(id)}>
            {name}
          </button>
        ))}
        <button type="button" aria-pressed={logX} onClick={() => setLog(!logX, logY)}>
          Log x
        </button>
      </div>
      <select
        aria-label="Metric on the horizontal axis"
        data-key="m"
        value={byMetric ?? ''}
        onChange={({ currentTarget }) =>
          setAxis(currentTarget.value === '' ? 'step' : `metrics.${currentTarget.value}`)
        }
      >
        <option value="">Or a metric…</option>
        {byMetric !== undefined && !offered.includes(byMetric) && <option>{byMetric}</option>}
        {offered.slice(0, 200).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
};

/** Weight of past values in the smoothed lines. */
const Smoothing = ({ view: { smoothing } }: { view: ChartView }) => {
  const percent = Math.round(smoothing * 100);
  const setPercent = (text: string): void =>
    setSmoothing(Math.min(maxPercent, Math.max(0, Number(text) || 0)) / 100);
  return (
    <div class="smoothing">
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max={maxPercent}
          step="1"
          value={percent}
          onInput={({ currentTarget }) => setPercent(currentTarget.value)}
        />
      </label>
      <input
        type="number"
        min="0"
        max={maxPercent}
        aria-label="Weight of past values, percent"
        data-key="s"
        value={percent}
        onInput={({ currentTarget }) => setPercent(currentTarget.value)}
      />
    </div>
  );
};
