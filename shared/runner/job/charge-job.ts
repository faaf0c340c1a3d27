import { errorName } from '../../core/error-text.ts';
import { noticeWrites } from '../../data/hooks/notice.ts';
import { type BudgetNotice, changeCost, readCosts } from '../../data/jobs/budget.ts';
import { changeJob } from '../../data/jobs/job.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { accountsOf, costSoFar, crossedBudget } from '../../jobs/budget.ts';
import { unchangedCharges } from '../../jobs/conclusion.ts';
import { roundedDollars } from '../../jobs/cost.ts';
import { parseJobRecord, unfinishedJobOf } from '../../jobs/job-record.ts';
import { type HeldJob, leaseCheck } from './hold-job.ts';

/**
 * Charge a running job what it has spent, and stop it once a budget is used up: its own, that of its project's or user's
 * month, or that of its token. Node 0 calls this at each heartbeat. It never throws: the next heartbeat does the same.
 *
 * It writes every five minutes, and at each heartbeat once a budget may be near. All jobs of a project and a user write the
 * same two items, so a job that nothing bounds writes once an hour, and one that meets others waits a while. It also looks
 * for a budget less often.
 */
export class JobCharges {
  readonly #job: HeldJob;
  /** Epoch milliseconds of the last write, and of the first call. */
  #written = 0;
  #begun = 0;
  /** Epoch milliseconds until which it waits for others. */
  #waitsUntil = 0;
  /** Epoch milliseconds of the next look. */
  #looksAt = 0;

  constructor(job: HeldJob) {
    this.#job = job;
  }

  async note(): Promise<void> {
    try {
      const reason = await this.#charge();
      if (reason !== undefined) this.#job.stop.because({ kind: 'budget', message: reason });
    } catch (error) {
      this.#job.log.warn('not-charged', { error: errorName(error) });
    }
  }

  /** @returns why the job must stop; undefined if it may go on */
  async #charge(): Promise<string | undefined> {
    const { records, record, now, log } = this.#job;
    if (record.charged === null || now().getTime() < this.#looksAt) return undefined;
    const { subject } = unfinishedJobOf(record);
    const item = await records.get(subject);
    if (item === undefined) return undefined;
    const present = parseJobRecord(item);
    const { charged, spent, budget } = present;
    const cost = costSoFar(present, now());
    if (charged === null || cost === null || isFinal(present.status)) return undefined;
    const delta = roundedDollars(cost - spent);
    const over = roundedDollars(Math.max(0, cost - charged));
    const costs = (await readCosts(records, accountsOf(present))).map((owned) => {
      const after = roundedDollars(owned.cost.spent + delta);
      const notice: BudgetNotice | undefined = crossedBudget(after, owned.amount, owned.cost.notice);
      return { ...owned, after, notice };
    });
    const isNear = costs.some(
      ({ amount, cost: { committed } }) => amount !== null && committed + over >= nearShare * amount,
    );
    const isBounded = budget !== null || costs.some(({ amount }) => amount !== null);
    const time = now().getTime();
    this.#begun ||= time;
    if (!isBounded) this.#looksAt = time + unboundedLookMilliseconds;
    const isNews = costs.some(({ notice }) => notice !== undefined);
    const isDue =
      isNews ||
      (time >= this.#waitsUntil &&
        (isBounded
          ? over > 0 || isNear || time - this.#written >= usualMilliseconds
          : time - Math.max(this.#written, this.#begun) >= unboundedMilliseconds));
    const reached = costs.find(({ amount, after }) => amount !== null && after >= amount);
    const isOwn = budget !== null && cost >= budget;
    if (delta > 0 && (isDue || isOwn)) {
      const told = await Promise.all(
        costs.flatMap(({ owner_id: project_id, period: month, amount, after, notice }) => {
          if (notice === undefined || project_id === present.user_id) return [];
          const type = `budget.${notice}` as const;
          const facts = { name: month, amount, spent: after, month };
          return noticeWrites(records, { type, project_id, subject: project_id, facts }, now());
        }),
      );
      const isWritten = await tryWrite(
        records.write(
          changeJob(subject, { set: { spent: cost, charged: charged + over } }, unchangedCharges(present)),
          ...costs.map(({ notice, ...account }) =>
            changeCost(account, { committed: over, spent: delta, notice }),
          ),
          ...told.flat(),
          leaseCheck(this.#job),
        ),
      ).catch((error: unknown) => {
        // Others write the same months. A budget that is used up stops the job all the same.
        log.warn('not-charged', { error: errorName(error) });
        return undefined;
      });
      if (isWritten) this.#written = time;
      else this.#waitsUntil = time + Math.random() * longestWait;
      // The job or its budget has changed since the read: the next heartbeat notices what is still to notice.
      if (isWritten === false) return undefined;
      if (isWritten)
        for (const { owner_id, period, amount, after, notice } of costs)
          if (notice !== undefined)
            log.info('budget-notice', { owner_id, notice, amount, spent: after, month: period });
    }
    if (isOwn) return reasonOf(`It has cost US$ ${cost} of its budget of US$ ${budget}.`);
    if (reached === undefined) return undefined;
    const { owner_id, period, isOfToken, amount } = reached;
    const whose = owner_id === present.user_id ? 'its user' : 'its project';
    const which = isOfToken ? 'the token that began it' : `${whose} for ${period}`;
    return reasonOf(`The budget of ${which}, US$ ${amount}, is used up.`);
  }
}

const reasonOf = (sentence: string): string =>
  `Stopped by a budget. ${sentence} With more money, run it again: it goes on from its checkpoints.`;

/** Share of a budget from which each heartbeat is written. */
const nearShare = 0.9;

const usualMilliseconds = 5 * 60_000;

const unboundedMilliseconds = 60 * 60_000;

/** Least time between two looks of a job that no budget bounds: one that is set meanwhile counts from the next. */
const unboundedLookMilliseconds = 2 * 60_000;

/** Wait after a conflict, at most. */
const longestWait = 60_000;
