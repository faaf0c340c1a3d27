import { type Signal, signal } from '@preact/signals';
import type { endpoint as readMetrics } from '../../../experiments/metrics/read-metrics.endpoint.ts';
import { page } from '../api/calls.ts';
import { isFinal } from '../ui/status.tsx';
import { asNumber, metricOf, type Row } from './row.ts';

const courses = new Map<string, Signal<readonly number[]>>();

/** Values of one metric of an experiment, for its small curve: empty until they are read. */
export function courseOf(experiment_id: string): Signal<readonly number[]> {
  const present = courses.get(experiment_id);
  if (present !== undefined) return present;
  const made = signal<readonly number[]>([]);
  courses.set(experiment_id, made);
  return made;
}

/** How many points the metric of an experiment had when its curve was read. */
const counts = new Map<string, number>();
const wanted = new Map<string, { row: Row; metric: string }>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** At most five requests in four seconds, however many rows are seen; the poller has its own. */
const spacing = 800;
/** The service thins longer curves out to so many: twice the pixels that a small curve has for them. */
const maxPoints = 120;

/** The metric that a row's curve shows: what it is ranked by, else its first one. */
export const courseMetric = (row: Row): string | undefined => row.best?.metric ?? Object.keys(row.metrics)[0];

function schedule(): void {
  if (timer !== undefined || wanted.size === 0 || document.hidden) return;
  timer = setTimeout(() => void next(), counts.size < 12 ? 60 : spacing);
}

async function next(): Promise<void> {
  const [first] = wanted;
  if (first !== undefined) {
    const [key, { row, metric }] = first;
    wanted.delete(key);
    const { experiment_id, project_id } = row;
    try {
      const { rows } = await page<typeof readMetrics>(
        'GET /projects/{project_id}/experiments/{experiment_id}/metrics',
        {
          path: { project_id, experiment_id },
          query: { name: [metric], points: maxPoints },
        },
      );
      const values = rows.flatMap(({ value }) => asNumber(value) ?? []).filter(Number.isFinite);
      counts.set(experiment_id, row.metrics[metric]?.count ?? values.length);
      courseOf(experiment_id).value = values;
    } catch {
      // The row shows no curve; the table itself says when the service is away.
      counts.set(experiment_id, 0);
    }
  }
  timer = undefined;
  schedule();
}

/** Ask for the curves of the rows that are seen. Those of running ones grow by what the table's own look has brought. */
export function wantCourses(rows: readonly Row[]): void {
  wanted.clear();
  for (const row of rows) {
    const metric = courseMetric(row);
    if (metric === undefined) continue;
    const present = counts.get(row.experiment_id);
    if (present === undefined) {
      wanted.set(row.experiment_id, { row, metric });
      continue;
    }
    const last = metricOf(row, metric);
    const count = row.metrics[metric]?.count ?? 0;
    if (isFinal(row.status) || last === undefined || !Number.isFinite(last) || count <= present) continue;
    counts.set(row.experiment_id, count);
    const course = courseOf(row.experiment_id);
    course.value = [...course.value, last];
  }
  schedule();
}

document.addEventListener('visibilitychange', schedule);
