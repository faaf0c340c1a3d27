import { errorName } from '../../core/error-text.ts';
import { nearestName } from '../../core/nearest-name.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import { noticeWrites } from '../../data/hooks/notice.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { unfinishedJobOf } from '../../jobs/job-record.ts';
import { judgeRules, type MetRule, type RulePoint, type RuleProgress } from '../../run-rules/judge-rules.ts';
import { progressOf, type RecordedRule, withMet } from '../../run-rules/recorded-rule.ts';
import { metReason, unjudgedText } from '../../run-rules/rule-text.ts';
import { type HeldJob, leaseCheck } from '../job/hold-job.ts';
import { retryFor, shortPatience } from '../job/retry-for.ts';

/**
 * Judges the rules of a run where its points arrive. A rule that stops ends the run as a cancel does; one that notifies
 * writes the event `metric.rule` with the mark that it is met, so it is told of once, however many attempts the run has.
 */
export class RuleWatch {
  readonly #job: HeldJob<Experiment>;
  readonly #say: (message: string) => void;
  readonly #clock: () => number;
  readonly #names = new Set<string>();
  #rules: readonly RecordedRule[];
  #progress: RuleProgress;
  #timer: NodeJS.Timeout | undefined;
  #noting: Promise<void> = Promise.resolve();

  /**
   * @param say writes to the log of the run
   * @param clock milliseconds of a clock that stands still while the machine is suspended: its program is, too
   */
  constructor(job: HeldJob<Experiment>, say: (message: string) => void, clock = () => performance.now()) {
    this.#job = job;
    this.#say = say;
    this.#clock = clock;
    this.#rules = job.record.rules ?? [];
    this.#progress = progressOf(this.#rules, clock());
  }

  /** Begin to count silence. */
  start(): void {
    if (!this.#rules.some(({ rule }) => rule.silent !== undefined)) return;
    this.#progress = { ...this.#progress, heard: this.#clock() };
    this.#timer = setInterval(() => this.#judge([], false), silenceMilliseconds).unref();
  }

  /** Note that the program has printed or reported something. */
  heard(): void {
    if (this.#timer !== undefined) this.#judge([], true);
  }

  /** Look at points that are stored next. Never throws. */
  take(points: readonly RulePoint[]): void {
    if (this.#rules.length === 0) return;
    for (const { name } of points) if (this.#names.size < maxNames) this.#names.add(name);
    this.#judge(points, false);
  }

  /** Stop judging. Return sentences for the rules that nothing could be judged by. */
  async close(): Promise<string[]> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#noting;
    return this.#rules.flatMap(({ rule }, index) =>
      this.#progress.rules[index]?.isSeen === true
        ? []
        : unjudgedText(rule, (metric) => nearestName(metric, this.#names)),
    );
  }

  #judge(points: readonly RulePoint[], hasPrinted: boolean): void {
    const { progress, met } = judgeRules(
      this.#rules.map(({ rule }) => rule),
      this.#progress,
      { now: this.#clock(), points, hasPrinted },
    );
    this.#progress = progress;
    if (met.length > 0) this.#act(met);
  }

  #act(met: readonly MetRule[]): void {
    const { stop, now } = this.#job;
    this.#rules = withMet(this.#rules, met, now());
    const stopping = met.find(({ index }) => this.#rules[index]?.rule.do === 'stop');
    const notifying = met.filter(({ index }) => this.#rules[index]?.rule.do === 'notify');
    for (const one of notifying) this.#say(this.#reason(one));
    if (notifying.length > 0) this.#noting = this.#noting.then(() => this.#note(notifying));
    if (stopping !== undefined)
      stop.because({ kind: 'rule', message: this.#reason(stopping), change: { rules: [...this.#rules] } });
  }

  #reason({ index, reason }: MetRule): string {
    const recorded = this.#rules[index];
    return recorded === undefined ? reason : metReason(recorded.rule, reason);
  }

  /** Mark rules as met and tell the hooks, in one transaction. */
  async #note(met: readonly MetRule[]): Promise<void> {
    const { records, record, now, log } = this.#job;
    const { project_id, experiment_id: subject } = record;
    try {
      const told = await Promise.all(
        met.map((one) => {
          const facts = { reason: this.#reason(one), rule: this.#rules[one.index]?.rule };
          return noticeWrites(records, { type: 'metric.rule', project_id, subject, facts }, now());
        }),
      );
      await retryFor(shortPatience, () =>
        records.write(
          changeJob(unfinishedJobOf(record).subject, { set: { rules: [...this.#rules] } }),
          leaseCheck(this.#job),
          ...told.flat(),
        ),
      );
    } catch (error) {
      // The lease is lost, or the table was away for long. The log of the run has the sentence.
      log.warn('rule-not-noted', { error: errorName(error) });
    }
  }
}

/** How often the clock is compared with the last sign of life. */
const silenceMilliseconds = 1_000;

/** Names among which a misspelt one is looked for. */
const maxNames = 1_000;
