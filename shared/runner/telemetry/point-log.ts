import type { Experiment } from '../../data/experiments/experiment.ts';
import { chunksOf, withoutStored } from '../../data/experiments/log-points.ts';
import { type LogLine, logChunk } from '../../data/jobs/job-log.ts';
import { holdsLease, type Lease } from '../../data/jobs/lease.ts';
import { appendMetrics } from '../../data/metrics/job-metrics.ts';
import {
  allSummaries,
  type MetricParts,
  putMetricPart,
  readMetricParts,
  withPoints,
} from '../../data/metrics/metric-summaries.ts';
import type { MetricPoint, MetricSummary } from '../../data/metrics/metric-summary.ts';
import { chunksPerGroup, compactPoints } from '../../data/metrics/point-blocks.ts';
import { purgePoints, type VoidPoints } from '../../data/metrics/purge-points.ts';
import { noteFirstCriterion } from '../../data/projects/inferred-criterion.ts';
import type { TableWriter, Write } from '../../data/table/table.ts';
import { isSystemMetric } from '../../metrics/system-metric.ts';
import { longPatience, retryFor } from '../job/retry-for.ts';
import type { Ride } from '../job/ride.ts';

interface PointLogOptions {
  records: TableWriter<'records'>;
  experiment: Experiment;
  lease: Lease;
  now(): Date;
  /** Points of others that wait. They share the chunk of those that are written. */
  waitingPoints?(): Ride<MetricPoint> | undefined;
  /** Lines of the log that wait. They are stored in the transaction of the points, which costs less than one of their own. */
  waitingLines?(): Ride<LogLine> | undefined;
  /** Called after each write, which renews the heartbeat. */
  onBeat?(): void;
  /** Receives the points that are stored next, without those that are stored already. */
  onFresh?(points: readonly MetricPoint[]): void;
  /** Called after points at a later step than all stored ones of their metric, until it returns true. */
  onLaterStep?(): Promise<boolean>;
}

interface Entry {
  points: readonly MetricPoint[];
  /** Whether to skip points that are already stored. A client repeats its request if it missed the answer. */
  once: boolean;
  /** What follows its points, while nothing else is written. */
  act?: () => Promise<void>;
  done: PromiseWithResolvers<void>;
}

/** Maximum number of points of one chunk. */
const chunkPoints = 5_000;

/**
 * The points of a running job, from METRICS_FILE or from a program that logs through MLflow's API. They are stored
 * under the lease in one sequence of chunks, one after the other, so no chunk is stored while an earlier one is
 * missing. Points that arrive during a write share the next chunk.
 */
export class PointLog {
  readonly #options: PointLogOptions;
  readonly #totals: MetricTotals;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  #compacting: Promise<void> | undefined;
  #sequence = 0;
  /** Whether a later step has been told. */
  #isLater = false;
  #lost: unknown;

  constructor(options: PointLogOptions) {
    this.#options = options;
    this.#totals = new MetricTotals(options);
  }

  /**
   * Store points. Resolves once they are stored.
   * @param once leaves out those that are stored already
   * @throws ConditionFailedError once the lease is lost
   */
  store(points: readonly MetricPoint[], once = false): Promise<void> {
    return this.#enter({ points, once });
  }

  /**
   * Remove points that are stored. Resolves once they are removed.
   * @throws ConditionFailedError once the lease is lost
   */
  purge(voidPoints: VoidPoints): Promise<void> {
    return this.#enter({ points: [], once: false, act: () => this.#purge(voidPoints) });
  }

  #enter(entry: Omit<Entry, 'done'>): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ ...entry, done });
    this.#writing ??= this.#write();
    return done.promise;
  }

  /** Return the summaries of all points, also of earlier attempts. */
  async summaries(): Promise<ReadonlyMap<string, MetricSummary>> {
    return allSummaries(await retryFor(longPatience, () => this.#totals.parts()));
  }

  /** Wait for pending writes. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#compacting;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting;
      this.#waiting = [];
      let ride: Ride<MetricPoint> | undefined;
      try {
        if (this.#lost !== undefined) throw this.#lost;
        const points = await retryFor(longPatience, () => this.#fresh(entries));
        if (points.length > 0) ride = this.#options.waitingPoints?.();
        points.push(...(ride?.rows ?? []));
        this.#options.onFresh?.(points);
        for (const chunk of chunksOf(points, chunkPoints)) await this.#append(chunk);
        ride?.stored();
        for (const { act } of entries) await act?.();
        for (const { done } of entries) done.resolve();
      } catch (error) {
        // The chunk may or may not be stored, so no chunk may follow it.
        this.#lost = error;
        ride?.lost(error);
        for (const { done } of entries) done.reject(error);
      }
    }
    // At once: whoever waited for the last entry may bring the next one before a callback of this promise runs.
    this.#writing = undefined;
  }

  async #purge(voidPoints: VoidPoints): Promise<void> {
    const { records, experiment, lease } = this.#options;
    const { experiment_id } = experiment;
    await this.#compacting;
    const guard = holdsLease(experiment_id, 0, lease);
    await retryFor(longPatience, async () => {
      const left = await purgePoints(records, experiment_id, voidPoints, guard);
      await this.#totals.replace(voidPoints.names, left, guard);
    });
  }

  /** Return the points of the entries that are not yet stored. */
  async #fresh(entries: readonly Entry[]): Promise<MetricPoint[]> {
    const repeated = entries.flatMap(({ points, once }) => (once ? points : []));
    const all = entries.flatMap(({ points, once }) => (once ? [] : points));
    if (repeated.length === 0) return all;
    const { records, experiment } = this.#options;
    const summaries = allSummaries(await this.#totals.parts());
    return [...all, ...(await withoutStored(records, experiment.experiment_id, repeated, summaries))];
  }

  /** Write together with the lines of the log that wait. */
  async #withLines(write: (lines: readonly Write[]) => Promise<void>): Promise<void> {
    const ride = this.#options.waitingLines?.();
    if (ride === undefined) return write([]);
    const { experiment, lease } = this.#options;
    try {
      const put = await logChunk(experiment.experiment_id, 0, lease.number, ride.sequence, ride.rows);
      await write([{ put }]);
    } catch (error) {
      ride.lost(error);
      throw error;
    }
    ride.stored();
  }

  async #append(points: readonly MetricPoint[]): Promise<void> {
    const { records, experiment, lease, now, onLaterStep, onBeat } = this.#options;
    const { experiment_id } = experiment;
    const isLater =
      onLaterStep !== undefined && !this.#isLater && isLaterThan(await this.summaries(), points);
    await this.#withLines((lines) =>
      retryFor(longPatience, () =>
        this.#totals.store(points, (writes) =>
          appendMetrics(records, experiment_id, lease, this.#sequence, points, now(), ...writes, ...lines),
        ),
      ),
    );
    onBeat?.();
    this.#sequence += 1;
    if (isLater) this.#isLater = await onLaterStep();
    if (this.#sequence % chunksPerGroup !== 0) return;
    // The points are stored. The next compaction makes up for a failed one.
    this.#compacting ??= compactPoints(records, experiment_id)
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        this.#compacting = undefined;
      });
  }
}

/** Whether a metric of the program has a point at a later step than all before. */
const isLaterThan = (
  summaries: ReadonlyMap<string, MetricSummary>,
  points: readonly MetricPoint[],
): boolean =>
  points.some(
    ({ name, step }) =>
      step !== null &&
      !isSystemMetric(name) &&
      step > (summaries.get(name)?.step ?? Number.NEGATIVE_INFINITY),
  );

/**
 * Keeps the summary of a training's metrics with the experiment. Only its job writes it, under the lease, so the parts
 * read at the start stay valid. Metrics beyond 10,000 names keep their points and have no summary.
 */
class MetricTotals {
  readonly #options: Pick<PointLogOptions, 'records' | 'experiment' | 'lease'>;
  #parts: MetricParts | undefined;

  constructor(options: Pick<PointLogOptions, 'records' | 'experiment' | 'lease'>) {
    this.#options = options;
  }

  /** The summaries of all stored points. */
  async parts(): Promise<MetricParts> {
    const { records, experiment } = this.#options;
    this.#parts ??= await readMetricParts(records, experiment.project_id, experiment.experiment_id);
    return this.#parts;
  }

  /**
   * Replace the summaries of metrics whose stored points have changed. A metric without points has none.
   */
  async replace(
    names: ReadonlySet<string>,
    left: ReadonlyMap<string, MetricSummary>,
    guard: Write,
  ): Promise<void> {
    const { records, experiment } = this.#options;
    const { project_id, experiment_id } = experiment;
    const parts = (await this.parts()).map((part) => {
      if (![...names].some((name) => part.summaries.has(name))) return part;
      const summaries = [...part.summaries].flatMap(([name, summary]) => {
        const next = names.has(name) ? left.get(name) : summary;
        return next === undefined ? [] : [[name, next] as const];
      });
      return { ...part, summaries: new Map(summaries), version: part.version + 1 };
    });
    const writes = parts.flatMap((part, index) =>
      part === this.#parts?.[index] ? [] : [putMetricPart(project_id, experiment_id, index, part)],
    );
    await records.write(guard, ...writes);
    this.#parts = parts;
  }

  /**
   * Add points to the summaries in the same write that stores them. If it fails they are not added, so a retry
   * counts them once.
   * @param write performs the given writes together with its own
   */
  async store(
    points: readonly MetricPoint[],
    write: (writes: readonly Write[]) => Promise<void>,
  ): Promise<void> {
    const { records, experiment, lease } = this.#options;
    const { project_id, experiment_id } = experiment;
    const { parts, changed, hasNew } = withPoints(await this.parts(), points);
    if (hasNew)
      await noteFirstCriterion(
        records,
        experiment,
        allSummaries(parts).keys(),
        holdsLease(experiment_id, 0, lease),
      );
    const writes = parts.flatMap((part, index) =>
      changed.has(index) ? [putMetricPart(project_id, experiment_id, index, part)] : [],
    );
    await write(writes);
    this.#parts = parts;
  }
}
