import type { ComponentChildren } from 'preact';
import { isCounter } from '../runs/metric-order.ts';
import { Button } from '../ui/controls/button.tsx';
import { metricOfAxis, outlierPercent, type XAxis } from './series.ts';
import { type ChartView, setAt, setAxis, setLog, setSmoothing, setWithoutOutliers, setZoom } from './view.ts';

export const axes: readonly { id: XAxis; name: string }[] = [
  { id: 'step', name: 'Step' },
  { id: 'relative', name: 'Relative' },
  { id: 'time', name: 'Time' },
];

const maxPercent = 99;

/** Settings of all charts of a page. */
export const ChartControls = ({
  view,
  metrics,
  children,
}: {
  view: ChartView;
  metrics: readonly string[];
  children?: ComponentChildren;
}) => {
  const { axis, logX, logY, smoothing, zoom, at, isWithoutOutliers } = view;
  const percent = Math.round(smoothing * 100);
  const setPercent = (text: string): void =>
    setSmoothing(Math.min(maxPercent, Math.max(0, Number(text) || 0)) / 100);
  const byMetric = metricOfAxis(axis);
  // Programs count epochs and samples in metrics of their own. These are the likely axes.
  const offered = [...metrics].sort((a, b) => Number(isCounter(b)) - Number(isCounter(a)));
  return (
    <div class="bar-row chart-controls">
      <div class="segments" role="group" aria-label="Horizontal axis">
        {axes.map(({ id, name }) => (
          <button key={id} type="button" aria-pressed={id === axis} onClick={() => setAxis(id)}>
            {name}
          </button>
        ))}
        <select
          aria-label="Metric on the horizontal axis"
          data-key="m"
          class={byMetric === undefined ? '' : 'chosen'}
          value={byMetric ?? ''}
          onChange={({ currentTarget }) =>
            setAxis(currentTarget.value === '' ? 'step' : `metrics.${currentTarget.value}`)
          }
        >
          <option value="">Metric…</option>
          {byMetric !== undefined && !offered.includes(byMetric) && <option>{byMetric}</option>}
          {offered.slice(0, 200).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="segments" role="group" aria-label="Logarithmic axes">
        <button type="button" aria-pressed={logX} onClick={() => setLog(!logX, logY)}>
          Log x
        </button>
        <button type="button" aria-pressed={logY} onClick={() => setLog(logX, !logY)}>
          Log y
        </button>
      </div>
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
      <label class="check" title={`Leave out the highest and the lowest ${outlierPercent} % of the values`}>
        <input
          type="checkbox"
          checked={isWithoutOutliers}
          onChange={({ currentTarget }) => setWithoutOutliers(currentTarget.checked)}
        />
        No outliers
      </label>
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
