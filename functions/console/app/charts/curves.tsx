import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import { noteReach, poll, wake } from '../api/poller.ts';
import { isExpired, signInCount } from '../api/session.ts';
import { inOrder } from '../experiments/metric-order.ts';
import { place, setQuery } from '../router.ts';
import { Empty, Problem, Skeleton } from '../ui/parts.tsx';
import { isFinal } from '../ui/status.tsx';
import { Chart, type ChartCurve, type ChartSettings } from './chart.tsx';
import type { Curve } from './curve.ts';
import { Legend } from './legend.tsx';
import { CurveReader } from './points.ts';
import type { XAxis } from './series.ts';

export interface Drawable {
  experiment_id: string;
  project_id: string;
  name: string;
  isLive: boolean;
  metrics: Experiment['metrics'];
}

export const drawableOf = ({
  experiment_id,
  project_id,
  name,
  status,
  metrics,
}: Pick<Experiment, 'experiment_id' | 'project_id' | 'name' | 'status' | 'metrics'>): Drawable => ({
  experiment_id,
  project_id,
  name,
  isLive: !isFinal(status),
  metrics,
});

const axes: readonly { id: XAxis; name: string }[] = [
  { id: 'step', name: 'Step' },
  { id: 'relative', name: 'Relative' },
  { id: 'time', name: 'Time' },
];
const maxCharts = 24;
const liveMilliseconds = 2_000;

/** Read the chart settings of a page from its address. */
export function useChartSettings(): ChartSettings {
  const { query } = place.value;
  const axis = axes.find(({ id }) => id === query.get('x'))?.id ?? 'step';
  const log = query.get('log') ?? '';
  const smoothing = Math.min(0.99, Math.max(0, Number(query.get('smooth') ?? 0) || 0));
  return useMemo(
    () => ({ axis, logX: log.includes('x'), logY: log.includes('y'), smoothing }),
    [axis, log, smoothing],
  );
}

const ChartControls = ({ settings }: { settings: ChartSettings }) => {
  const { axis, logX, logY, smoothing } = settings;
  const setLog = (x: boolean, y: boolean) => setQuery({ log: `${x ? 'x' : ''}${y ? 'y' : ''}` });
  return (
    <div class="bar-row chart-controls">
      <div class="segments" role="group" aria-label="Horizontal axis">
        {axes.map(({ id, name }) => (
          <button key={id} type="button" aria-pressed={id === axis} onClick={() => setQuery({ x: id })}>
            {name}
          </button>
        ))}
      </div>
      <div class="segments" role="group" aria-label="Logarithmic axes">
        <button type="button" aria-pressed={logX} onClick={() => setLog(!logX, logY)}>
          Log x
        </button>
        <button type="button" aria-pressed={logY} onClick={() => setLog(logX, !logY)}>
          Log y
        </button>
      </div>
      <label class="smoothing">
        Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={smoothing}
          onInput={({ currentTarget }) =>
            setQuery({ smooth: currentTarget.value === '0' ? undefined : currentTarget.value })
          }
        />
        <output>{smoothing.toFixed(2)}</output>
      </label>
    </div>
  );
};

/** Curves of one or several experiments, one chart per metric. The curves of running experiments grow. */
export function Curves({ experiments }: { experiments: readonly Drawable[] }) {
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isLoaded, setLoaded] = useState(false);
  const [wanted, setWanted] = useState('');
  const readers = useRef(new Map<string, CurveReader>());
  const latest = useRef(experiments);
  latest.current = experiments;
  const settings = useChartSettings();
  // Read an experiment's curves once more when it has ended.
  const key = experiments.map(({ experiment_id, isLive }) => `${experiment_id}${isLive ? '+' : ''}`).join();
  const signIns = signInCount.value;

  useEffect(() => {
    const aborter = new AbortController();
    let turn = 0;
    let hasFailed = false;
    const readerOf = ({ project_id, experiment_id }: Drawable): CurveReader => {
      const present = readers.current.get(experiment_id);
      if (present !== undefined) return present;
      const made = new CurveReader({ project_id, experiment_id });
      readers.current.set(experiment_id, made);
      return made;
    };
    const load = async () => {
      try {
        const queue = [...latest.current];
        const lane = async () => {
          for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
            await readerOf(one).read(one.metrics, aborter.signal);
            setVersion((before) => before + 1);
          }
        };
        await Promise.all([lane(), lane(), lane(), lane()]);
        noteReach();
        hasFailed = false;
        setLoaded(true);
        setError(undefined);
      } catch (failure) {
        if (aborter.signal.aborted) return;
        noteReach(failure);
        hasFailed = true;
        setError(failure);
        wake();
      }
    };
    void load();
    const live = () => latest.current.filter(({ isLive }) => isLive);
    const end = poll({
      // Read one experiment per run, in turn.
      async run() {
        if (hasFailed) return load();
        const running = live();
        const one = running[turn % Math.max(1, running.length)];
        turn += 1;
        if (one !== undefined && (await readerOf(one).read(one.metrics, aborter.signal)))
          setVersion((before) => before + 1);
      },
      every: () => (isExpired.value || (live().length === 0 && !hasFailed) ? undefined : liveMilliseconds),
    });
    return () => {
      aborter.abort();
      end();
    };
  }, [key, signIns]);

  const charts = useMemo(() => {
    const byName = new Map<string, ChartCurve[]>();
    for (const [colour, { experiment_id, name }] of latest.current.entries()) {
      for (const [metric, curve] of readers.current.get(experiment_id)?.curves ?? []) {
        const list = byName.get(metric) ?? [];
        list.push({ id: experiment_id, label: name, colour, curve: { ...curve } });
        byName.set(metric, list);
      }
    }
    const names = [...byName.keys()].sort((one, other) => one.localeCompare(other));
    return inOrder(names).map((name) => [name, byName.get(name) ?? []] as const);
  }, [version, key]);

  /** Read a metric's curves between two steps, for the experiments with thinned curves. */
  const readRange = async (name: string, from: number, to: number, signal: AbortSignal) => {
    const read = new Map<string, Curve>();
    const queue = [...readers.current].filter(([, { curves }]) => curves.get(name)?.reported !== undefined);
    const lane = async () => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
        const curve = await one[1].readRange(name, from, to, signal);
        if (curve !== undefined) read.set(one[0], curve);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    return read;
  };

  const found = charts.filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()));
  if (charts.length === 0) {
    if (error !== undefined) return <Problem error={error} what="The curves could not be loaded" />;
    if (!isLoaded) return <Skeleton rows={6} />;
    return (
      <Empty title="No metrics yet" icon="chart">
        <p>
          A training writes them to <code>METRICS_FILE</code>, one JSON line for each value:{' '}
          <code>{'{"accuracy": 0.93, "step": 4}'}</code>
        </p>
      </Empty>
    );
  }
  return (
    <div class="curves">
      <ChartControls settings={settings} />
      {charts.length > 6 && (
        <input
          type="search"
          class="find-metrics"
          aria-label="Find metrics"
          placeholder={`Search ${charts.length} metrics`}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      {experiments.length > 1 && <Legend experiments={experiments} />}
      {error !== undefined && <Problem error={error} what="Some curves could not be loaded" />}
      <div class="charts">
        {found.slice(0, maxCharts).map(([name, curves]) => (
          <Chart key={name} name={name} curves={curves} settings={settings} readRange={readRange} />
        ))}
      </div>
      {found.length > maxCharts && (
        <p class="soft small">
          {found.length - maxCharts} more metrics are not shown. Search for them above.
        </p>
      )}
    </div>
  );
}
