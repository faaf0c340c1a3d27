import type { RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as readMetrics } from '../../../experiments/metrics/read-metrics.endpoint.ts';
import type { Experiment } from '../api/answers.ts';
import { page } from '../api/calls.ts';
import type { Curve } from './curve.ts';

type Point = RowOf<typeof readMetrics>;
type Summaries = Experiment['metrics'];

const route = 'GET /projects/{project_id}/experiments/{experiment_id}/metrics';
const maxPage = 10_000;
/** Points of an experiment that are read one and all; the curves of a longer one are thinned out by the service. */
const maxWhole = 10_000;
/** Points of a curve that is thinned out, about as many as a chart has pixels. */
const thinnedPoints = 1_000;
/** Metrics of one request: with these points as many as an answer may hold. */
const maxNames = 40;

/** Metrics of an experiment by their names, each with the points that are reported; undefined where all are to be read. */
function thinnedCounts(metrics: Summaries): [string, number][] | undefined {
  const counts = Object.entries(metrics).map(([name, { count }]): [string, number] => [name, count]);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return total > maxWhole ? counts : undefined;
}

function addPoint(curves: Map<string, Curve>, { name, step, time, value }: Point): void {
  let curve = curves.get(name);
  if (curve === undefined) {
    curve = { steps: [], times: [], values: [] };
    curves.set(name, curve);
  }
  curve.steps.push(step);
  curve.times.push(Date.parse(time));
  curve.values.push(Number(value));
}

/** The curves of an experiment: all points of a short one, read on where it stopped; of a long one what can be seen. */
export class CurveReader {
  curves = new Map<string, Curve>();
  readonly #path: { project_id: string; experiment_id: string };
  #next: string | undefined;
  #isStarted = false;
  /** Points of the metrics as they were last thinned out. */
  #thinned = new Map<string, number>();

  constructor(path: { project_id: string; experiment_id: string }) {
    this.#path = path;
  }

  /** Read what is new, by what the experiment says of its metrics. Returns whether there was anything. */
  read(metrics: Summaries, signal?: AbortSignal): Promise<boolean> {
    const counts = thinnedCounts(metrics);
    return counts === undefined ? this.#readOn(signal) : this.#readThinned(counts, signal);
  }

  /** Points of a metric between two steps, thinned out anew. */
  async readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<Curve | undefined> {
    const query = { name: [name], points: thinnedPoints, step_from: from, step_to: to };
    const { rows } = await page<typeof readMetrics>(route, { path: this.#path, query, signal });
    const read = new Map<string, Curve>();
    for (const row of rows) addPoint(read, row);
    return read.get(name);
  }

  async #readOn(signal: AbortSignal | undefined): Promise<boolean> {
    let isNew = false;
    while (!this.#isStarted || this.#next !== undefined) {
      const { rows, next } = await page<typeof readMetrics>(
        route,
        { path: this.#path, query: { limit: maxPage }, ...(signal !== undefined && { signal }) },
        this.#next,
      );
      for (const row of rows) addPoint(this.curves, row);
      isNew ||= rows.length > 0;
      this.#next = next;
      this.#isStarted = true;
      // While the experiment runs there is always a next page.
      if (rows.length === 0) break;
    }
    return isNew;
  }

  async #readThinned(counts: readonly [string, number][], signal: AbortSignal | undefined): Promise<boolean> {
    const grown = counts.filter(([name, count]) => this.#thinned.get(name) !== count);
    for (let at = 0; at < grown.length; at += maxNames) {
      const part = grown.slice(at, at + maxNames);
      const { rows } = await page<typeof readMetrics>(route, {
        path: this.#path,
        query: { name: part.map(([name]) => name), points: thinnedPoints },
        ...(signal !== undefined && { signal }),
      });
      const read = new Map<string, Curve>();
      for (const row of rows) addPoint(read, row);
      for (const [name, count] of part) {
        const curve = read.get(name);
        if (curve !== undefined)
          this.curves.set(name, count > curve.values.length ? { ...curve, reported: count } : curve);
        this.#thinned.set(name, count);
      }
    }
    return grown.length > 0;
  }
}
