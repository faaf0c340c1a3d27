import { errorName } from '../../core/error-text.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import {
  changedReports,
  findRule,
  listReports,
  putReport,
  type StoredReport,
  type SweepRule,
} from '../../data/sweeps/rung.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { ConditionFailedError } from '../../data/table/write-label.ts';
import { MetricRanker } from '../../metrics/metric-ranker.ts';
import { judge } from '../../sweeps/early-stopping.ts';
import { reachedRungs } from '../../sweeps/rungs.ts';
import type { RungReport } from '../../sweeps/types.ts';
import { type HeldJob, leaseCheck } from '../job/hold-job.ts';

/**
 * Reports the values of a sweep's run at rungs, and stops the run where the rule of the sweep says so. A report and the
 * decision on it are one transaction, on condition that no other run has reported since. Reports stay with the sweep,
 * so an attempt that begins again from a checkpoint repeats none.
 */
export class RungReporter {
  readonly #job: HeldJob<Experiment>;
  readonly #names = new Set<string>();
  #ranker: MetricRanker | undefined;
  #rule: SweepRule | undefined;
  /** Number of the first rung that this run has not reported. */
  #from = 0;
  #waiting: MetricPoint[] = [];
  #working: Promise<void> | undefined;
  #isOver: boolean;

  constructor(job: HeldJob<Experiment>) {
    this.#job = job;
    this.#isOver = job.record.sweep === undefined;
  }

  /** Look at new points of the run. Never throws. */
  take(points: readonly MetricPoint[]): void {
    if (this.#isOver) return;
    for (const point of points) this.#waiting.push(point);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Wait for pending reports. */
  async close(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    try {
      if (this.#rule === undefined) await this.#begin();
      while (this.#waiting.length > 0 && !this.#isOver) {
        const points = this.#waiting;
        this.#waiting = [];
        for (const report of this.#reached(points)) if (!this.#isOver) await this.#report(report);
      }
    } catch (error) {
      // The lease is lost, or the table is away. The run goes on, and its next rung is reported.
      this.#job.log.warn('rung-not-reported', { error: errorName(error) });
    }
  }

  /** Read the rule of the sweep, and what an earlier attempt of this run has reported. */
  async #begin(): Promise<void> {
    const { records } = this.#job;
    const { ids, run } = this.#place();
    this.#rule = await findRule(records, ids);
    if (this.#rule === undefined) {
      this.#isOver = true;
      return;
    }
    this.#ranker = new MetricRanker(this.#rule.criterion);
    const own = (await listReports(records, ids)).filter((report) => report.run === run);
    this.#from = own.length;
    const stopped = own.find((report) => report.stopped !== null)?.stopped;
    if (stopped != null) this.#stop(stopped);
  }

  #place() {
    const { sweep, project_id } = this.#job.record;
    if (sweep === undefined) throw new Error('no run of a sweep');
    return { ids: { project_id, sweep_id: sweep.sweep_id }, run: sweep.run };
  }

  /** Return the rungs that these points reach, by the metric that stands for that of the sweep. */
  #reached(points: readonly MetricPoint[]): RungReport[] {
    if (this.#rule === undefined || this.#ranker === undefined) return [];
    for (const { name } of points) this.#names.add(name);
    const metricNames = [...this.#names];
    const [metric] = this.#ranker.standing({ metricNames, metric: () => anySummary });
    const measured = points.flatMap(({ name, step, value }) =>
      name === metric && step !== null ? [{ step, value }] : [],
    );
    return reachedRungs({ trial: this.#place().run, from: this.#from }, this.#rule, measured);
  }

  async #report({ rung, step, value }: RungReport): Promise<void> {
    const { records } = this.#job;
    const { ids, run } = this.#place();
    const decide = async (): Promise<string | null> => {
      // Read the counter before the reports: a report added in between then fails the conditional write.
      const rule = await findRule(records, ids);
      // The sweep was deleted.
      if (rule === undefined) return null;
      const reports = await listReports(records, ids);
      const all = [...reports.map(asReport), { trial: run, rung, step, value }];
      const { name: metric, goal } = rule.criterion;
      const { stop, reason } = judge({ stop: rule, metric, goal }, run, all);
      const stopped = stop ? (reason ?? 'Stopped early.') : null;
      await records.write(
        ...putReport(ids, rule, { run, rung, step, value, stopped }),
        leaseCheck(this.#job),
      );
      return stopped;
    };
    const stopped = await retryOnConflict(decide, {
      isConflict: (error: ConditionFailedError) => error.isOnly(changedReports),
      calls: reportsAtOnce,
    });
    this.#from = rung + 1;
    if (stopped !== null) this.#stop(stopped);
  }

  #stop(message: string): void {
    this.#isOver = true;
    this.#job.stop.because({ kind: 'early', message });
  }
}

/** Reports of one sweep that may meet. In each round one of them succeeds. */
const reportsAtOnce = 50;

/** Only the name of a metric decides here. */
const anySummary = { last: 0, step: null, min: 0, max: 0 };

const asReport = ({ run, rung, step, value }: StoredReport): RungReport => ({
  trial: run,
  rung,
  step,
  value,
});
