import { type Signal, signal } from '@preact/signals';
import type { endpoint as readMetrics } from '../../../experiments/metrics/read-metrics.endpoint.ts';
import { page } from '../api/calls.ts';
import type { Ranking } from '../runs/ranking.ts';
import { asNumber, metricOf, type Row } from '../runs/row.ts';
import { isFinal } from '../ui/states/status.tsx';

const sparklines = new Map<string, Signal<readonly number[]>>();

/** Return a signal with the values of an experiment's small curve. It is empty until they are loaded. */
export function sparklineOf(experiment_id: string): Signal<readonly number[]> {
  const present = sparklines.get(experiment_id);
  if (present !== undefined) return present;
  const made = signal<readonly number[]>([]);
  sparklines.set(experiment_id, made);
  return made;
}

/** Number of a metric's points when its curve was loaded. */
const counts = new Map<string, number>();
/** Curve to load, with the number of its points. */
interface Wanted {
  project_id: string;
  metric: string;
  count: number;
}

const wanted = new Map<string, Wanted>();
let timer: ReturnType<typeof setTimeout> | undefined;
/**
 * Milliseconds between two requests for curves: at most five requests in four seconds, in addition to the
 * poller's.
 */
const spacing = 800;
/** Maximum points of a small curve, twice its pixels. The service thins longer curves. */
const maxPoints = 120;

/** Return the metric of a row's curve: the ranking metric, else the first one. */
const sparklineMetric = (row: Row, ranking: Ranking): string | undefined =>
  ranking.best(row)?.metric ?? row.sparkline?.metric ?? Object.keys(row.metrics)[0];

/** Metric of each curve that was loaded. Another criterion may have another one. */
const drawnMetrics = new Map<string, string>();

function schedule(): void {
  if (timer !== undefined || wanted.size === 0 || document.hidden) return;
  timer = setTimeout(() => void next(), counts.size < 12 ? 60 : spacing);
}

async function next(): Promise<void> {
  const [first] = wanted;
  if (first !== undefined) {
    const [experiment_id, { project_id, metric, count }] = first;
    wanted.delete(experiment_id);
    drawnMetrics.set(experiment_id, metric);
    try {
      const { rows } = await page<typeof readMetrics>(
        'GET /projects/{project_id}/experiments/{experiment_id}/metrics',
        {
          path: { project_id, experiment_id },
          query: { name: [metric], points: maxPoints },
        },
      );
      const values = rows.flatMap(({ value }) => asNumber(value) ?? []).filter(Number.isFinite);
      counts.set(experiment_id, count);
      sparklineOf(experiment_id).value = values;
    } catch {
      // Show no curve in this row. The table reports an unreachable service.
      counts.set(experiment_id, 0);
    }
  }
  timer = undefined;
  schedule();
}

/**
 * Take the curves of the visible rows from the rows. Request those of other metrics, and of experiments of earlier releases;
 * of a running experiment anew when the table finds new points.
 */
export function loadSparklines(rows: readonly Row[], ranking: Ranking): void {
  wanted.clear();
  for (const row of rows) {
    const metric = sparklineMetric(row, ranking);
    if (metric === undefined) continue;
    if (row.sparkline?.metric === metric) {
      counts.delete(row.experiment_id);
      sparklineOf(row.experiment_id).value = row.sparkline.values;
      continue;
    }
    const present = counts.get(row.experiment_id);
    if (present === undefined || drawnMetrics.get(row.experiment_id) !== metric) {
      const { project_id } = row;
      wanted.set(row.experiment_id, { project_id, metric, count: row.metrics[metric]?.count ?? 0 });
      continue;
    }
    const last = metricOf(row, metric);
    const count = row.metrics[metric]?.count ?? 0;
    if (isFinal(row.status) || last === undefined || !Number.isFinite(last) || count <= present) continue;
    counts.set(row.experiment_id, count);
    const sparkline = sparklineOf(row.experiment_id);
    sparkline.value = [...sparkline.value, last];
  }
  schedule();
}

document.addEventListener('visibilitychange', schedule);
