import type { ComponentChildren } from 'preact';
import { isSystemMetric } from '../../../../shared/metrics/system-metric.ts';
import { isCounter } from '../runs/metric-order.ts';
import { Button } from '../ui/controls/button.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { Menu } from '../ui/controls/menu.tsx';
import { Icon } from '../ui/icon.tsx';
import { metricOfAxis, outlierPercent, type XAxis } from './series.ts';
import { type ChartView, setAt, setAxis, setLog, setSmoothing, setWithoutOutliers, setZoom } from './view.ts';

export const axes: readonly { id: XAxis; name: string }[] = [
  { id: 'step', name: 'Step' },
  { id: 'relative', name: 'Relative time' },
  { id: 'time', name: 'Time' },
];

const maxPercent = 99;

/** Line of tools for all charts of a page: horizontal axis, scale and smoothing, and what is shown of the axes. */
export const ChartControls = ({
  view,
  metrics,
  children,
}: {
  view: ChartView;
  metrics: readonly string[];
  children?: ComponentChildren;
}) => {
  const { logX, logY, zoom, at, isWithoutOutliers } = view;
  const rare = [logX && 'Log x', isWithoutOutliers && 'No outliers'].filter(Boolean).join(', ');
  return (
    <div class="chart-controls">
      <AxisChoice view={view} metrics={metrics} />
      <Button pressed={logY} onClick={() => setLog(logX, !logY)}>
        Log y
      </Button>
      <Smoothing view={view} />
      <Menu
        label={rare === '' ? 'More chart settings' : `More chart settings: ${rare}`}
        button={
          <>
            <Icon name="sliders" />
            {rare !== '' && <span class="ellipsis">{rare}</span>}
          </>
        }
      >
        <CheckField checked={logX} onCheck={(checked) => setLog(checked, logY)}>
          Log x
        </CheckField>
        <CheckField
          title={`Leave out the highest and the lowest ${outlierPercent} % of the values`}
          checked={isWithoutOutliers}
          onCheck={setWithoutOutliers}
        >
          No outliers
        </CheckField>
      </Menu>
      {children}
      {(at !== undefined || zoom !== undefined) && (
        <span class="resets">
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
        </span>
      )}
    </div>
  );
};

/** Choice of the horizontal axis. */
const AxisChoice = ({ view: { axis }, metrics }: { view: ChartView; metrics: readonly string[] }) => {
  const byMetric = metricOfAxis(axis);
  // Programs count epochs and samples in metrics of their own. These are the likely axes.
  const offered = metrics
    .filter((name) => !isSystemMetric(name))
    .sort((a, b) => Number(isCounter(b)) - Number(isCounter(a)));
  return (
    <select
      aria-label="Horizontal axis"
      title="Horizontal axis"
      data-key="m"
      value={axis}
      onChange={({ currentTarget }) => setAxis(currentTarget.value as XAxis)}
    >
      {axes.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {byMetric !== undefined && !offered.includes(byMetric) && <option value={axis}>{byMetric}</option>}
      {offered.slice(0, maxOffered).map((name) => (
        <option key={name} value={`metrics.${name}`}>
          {name}
        </option>
      ))}
    </select>
  );
};

/** Number of metrics that are offered as the horizontal axis. */
const maxOffered = 200;

/** Weight of past values in the smoothed lines. */
const Smoothing = ({ view: { smoothing } }: { view: ChartView }) => {
  const percent = Math.round(smoothing * 100);
  const setPercent = (text: string): void =>
    setSmoothing(Math.min(maxPercent, Math.max(0, Number(text) || 0)) / 100);
  return (
    <div class="smoothing">
      <label>
        <span>Smoothing</span>
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
