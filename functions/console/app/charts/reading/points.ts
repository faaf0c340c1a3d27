import { isSystemMetric } from '../../../../../shared/metrics/system-metric.ts';
import type { endpoint as readMetrics } from '../../../../experiments/metrics/read-metrics.endpoint.ts';
import type { Experiment } from '../../api/answers.ts';
import { page } from '../../api/calls.ts';
import type { Curve } from './curve.ts';
import type { Point } from './point-feed.ts';

type Summaries = Experiment['metrics'];

const route = 'GET /projects/{project_id}/experiments/{experiment_id}/metrics';
const maxPage = 10_000;
/** Maximum number of points of an experiment to read in full. The service thins the curves of a longer one. */
const maxWhole = 10_000;
/** Points of a thinned curve, about one per pixel of a chart. */
const thinnedPoints = 1_000;
/** Maximum number of metrics of a request, so the answer stays within its limit of points. */
const maxNames = 40;

/**
 * Return the number of reported points of each metric; undefined if the experiment is short enough to read in
 * full.
 */
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

/** Points of a curve among which a new one is looked for. One may come both by a read and by a feed. */
const maxCompared = 200;

/** Add a point of a feed, unless the curve has it. */
function addNewPoint(curves: Map<string, Curve>, point: Point): void {
  const curve = curves.get(point.name);
  const [time, value] = [Date.parse(point.time), Number(point.value)];
  for (let count = 1; curve !== undefined && count <= maxCompared; count += 1) {
    const at = curve.values.length - count;
    if (at < 0) break;
    if (curve.times[at] === time && curve.steps[at] === point.step && Object.is(curve.values[at], value))
      return;
  }
  addPoint(curves, point);
  if (curve?.reported !== undefined) curve.reported += 1;
}

/** A list of points, and the place up to which it was read. */
interface PointList {
  /** Names of its metrics; all of the model by default. */
  names?: string[];
  next: string | undefined;
  isStarted: boolean;
}

/**
 * Reader of an experiment's curves. It reads all points of a short experiment incrementally, and thinned curves of
 * a long one.
 */
export class CurveReader {
  curves = new Map<string, Curve>();
  readonly #path: { project_id: string; experiment_id: string };
  /** Lists of points that are read on: those of the model, and those of the machine once a chart wants them. */
  readonly #lists: PointList[] = [{ next: undefined, isStarted: false }];
  /** Reported points of each metric at the last thinning. */
  #thinned = new Map<string, number>();
  /** Points that a feed brought during a read; undefined while nothing is read. */
  #waiting: Point[] | undefined;
  /** Whether a feed brings all further points of what is read. */
  isFed = false;

  constructor(path: { project_id: string; experiment_id: string }) {
    this.#path = path;
  }

  /**
   * Read new points, as the experiment's metric summaries show. Of a long experiment, read only the wanted metrics.
   * Return whether there were any.
   */
  async read(metrics: Summaries, wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<boolean> {
    this.#waiting ??= [];
    try {
      return await this.#read(metrics, wanted, signal);
    } finally {
      const points = this.#waiting;
      this.#waiting = undefined;
      this.take(points);
    }
  }

  /** Take points of a feed. Those of metrics that nobody wanted yet will be read with the others of these. */
  take(points: readonly Point[]): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(...points);
      return;
    }
    const started = this.#lists.filter(({ isStarted }) => isStarted);
    for (const point of points) {
      const { name } = point;
      const isRead = started.some(({ names }) => names?.includes(name) ?? !isSystemMetric(name));
      if (isRead || this.#thinned.has(name)) addNewPoint(this.curves, point);
    }
  }

  #read(metrics: Summaries, wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<boolean> {
    const isWhole = this.isFed && this.#lists[0]?.isStarted === true;
    const counts = isWhole ? undefined : thinnedCounts(metrics);
    if (counts !== undefined)
      return this.#readThinned(
        counts.filter(([name]) => wanted.has(name)),
        signal,
      );
    if ([...wanted].some(isSystemMetric)) this.#addMachine(Object.keys(metrics));
    return this.#readOn(signal);
  }

  /** Add the lists of the machine's metrics that no list has. Only a request that names them gets them. */
  #addMachine(all: readonly string[]): void {
    const known = new Set(this.#lists.flatMap(({ names = [] }) => names));
    const names = all.filter((name) => isSystemMetric(name) && !known.has(name));
    for (let at = 0; at < names.length; at += maxNames)
      this.#lists.push({ names: names.slice(at, at + maxNames), next: undefined, isStarted: false });
  }

  /** Read a metric's points between two steps, thinned for this range. */
  async readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<Curve | undefined> {
    const query = { name: [name], points: thinnedPoints, step_from: from, step_to: to };
    const { rows } = await page<typeof readMetrics>(route, { path: this.#path, query, signal });
    const read = new Map<string, Curve>();
    for (const row of rows) addPoint(read, row);
    return read.get(name);
  }

  async #readOn(signal: AbortSignal | undefined): Promise<boolean> {
    let isNew = false;
    const lists = this.#lists.filter(({ isStarted }) => !this.isFed || !isStarted);
    for (const list of lists) if (await this.#readList(list, signal)) isNew = true;
    return isNew;
  }

  async #readList(list: PointList, signal: AbortSignal | undefined): Promise<boolean> {
    const { names } = list;
    let isNew = false;
    while (!list.isStarted || list.next !== undefined) {
      const { rows, next } = await page<typeof readMetrics>(
        route,
        {
          path: this.#path,
          query: { limit: maxPage, ...(names !== undefined && { name: names }) },
          ...(signal !== undefined && { signal }),
        },
        list.next,
      );
      // A feed may have brought some of those that are read on.
      for (const row of rows) (list.isStarted ? addNewPoint : addPoint)(this.curves, row);
      isNew ||= rows.length > 0;
      list.next = next;
      list.isStarted = true;
      // A running experiment always has a next page. Stop at an empty one.
      if (rows.length === 0) break;
    }
    return isNew;
  }

  async #readThinned(counts: readonly [string, number][], signal: AbortSignal | undefined): Promise<boolean> {
    const grown = counts.filter(([name, count]) =>
      this.isFed ? !this.#thinned.has(name) : this.#thinned.get(name) !== count,
    );
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
