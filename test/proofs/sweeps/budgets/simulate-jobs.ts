import { createLogger } from '../../../../shared/core/log.ts';
import { newId } from '../../../../shared/core/new-id.ts';
import type { Settings } from '../../../../shared/core/settings.ts';
import {
  type Experiment,
  experimentJob,
  experimentKey,
  parseExperiment,
  putExperiment,
  requireExperiment,
} from '../../../../shared/data/experiments/experiment.ts';
import { monthOf, readCosts, storeBudget } from '../../../../shared/data/jobs/budget.ts';
import { usualHeartbeatSeconds } from '../../../../shared/data/jobs/lease.ts';
import { limitShare } from '../../../../shared/data/jobs/vcpu-shares.ts';
import { createProject } from '../../../../shared/data/projects/project.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { acquireLease } from '../../../../shared/jobs/acquire-lease.ts';
import { chargeBudgets, highestCost } from '../../../../shared/jobs/budget.ts';
import { concludeJob } from '../../../../shared/jobs/conclusion.ts';
import { actualCost, costEstimate, minSeconds } from '../../../../shared/jobs/cost.ts';
import { batchNameOf } from '../../../../shared/jobs/job-record.ts';
import { beginJob } from '../../../../shared/jobs/job-slots.ts';
import { observeJob } from '../../../../shared/jobs/observation.ts';
import { JobCharges } from '../../../../shared/runner/job/charge-job.ts';
import { Heart } from '../../../../shared/runner/job/heart.ts';
import { leaseCheck } from '../../../../shared/runner/job/hold-job.ts';
import { JobStop } from '../../../../shared/runner/job/job-stop.ts';
import { experimentOf } from '../../../support/experiment.ts';
import { projectOf } from '../../../support/project.ts';

/** Tables and settings of the service whose own code charges, stops and settles the jobs. */
export interface Simulated {
  records: TableWriter<'records'>;
  settings: Settings;
}

/** Jobs of one project after their ends. */
export interface SimulatedGroup {
  jobs: SimulatedJob[];
  /** US dollars of the project's month. Null if each job has a budget of its own. */
  budget: number | null;
  /** US dollars that the service counts for the project's month, and holds back for what runs. */
  counted: { spent: number; committed: number };
}

export interface SimulatedJob {
  /** US dollars. Null without a budget of its own. */
  budget: number | null;
  /** US dollars of a second. */
  price: number;
  /** Seconds of each attempt. */
  attempts: number[];
  /** Whether Batch's event about each lost attempt came. */
  isReported: boolean;
  /** US dollars that the service says it cost. */
  cost: number;
  isStopped: boolean;
}

/** Prices of Fargate in us-east-1, in US dollars per hour. */
const prices = { fargate: { base: 0, vcpu: 0.04048, gib: 0.004445 }, nodes: [] };
const sizes = [
  { vcpus: 1, memory: 2048 },
  { vcpus: 2, memory: 8192 },
  { vcpus: 4, memory: 30_720 },
];
const jobsOfGroup = 4;

/**
 * Run jobs of a new project in simulated time: containers beat, hosts are lost, later attempts go on. Every second
 * project has a budget of its month; in the others each job has its own.
 */
export async function simulateGroup(
  { records, settings }: Simulated,
  random: () => number,
  hasMonth: boolean,
): Promise<SimulatedGroup> {
  const begun = Date.UTC(2026, 5, 10);
  let time = begun;
  const now = () => new Date(time);
  const project_id = newId();
  await createProject(records, projectOf(project_id));
  const lives: { at: number; steps: AsyncGenerator<number, SimulatedJob> }[] = [];
  let estimates = 0;
  for (let count = 0; count < jobsOfGroup; count += 1) {
    const record = newJob(project_id, now(), settings, random, hasMonth);
    estimates += record.charged ?? 0;
    const charged = await chargeBudgets(records, record, record.charged ?? 0);
    await beginJob(records, experimentJob(record), settings.limits, [putExperiment(record), ...charged]);
    const world = { records, settings, random, now, work: between(random, 60, 1200) };
    lives.push({ at: begun + between(random, 0, 60_000), steps: liveJob(record, world) });
  }
  const budget = hasMonth ? estimates * between(random, 0.1, 0.7) : null;
  if (budget !== null) await storeBudget(records, project_id, budget, now());
  const jobs: SimulatedJob[] = [];
  while (lives.length > 0) {
    lives.sort((one, other) => one.at - other.at);
    const [next] = lives;
    if (next === undefined) break;
    time = next.at;
    const step = await next.steps.next();
    if (step.done === true) jobs.push(step.value);
    if (step.done === true) lives.shift();
    else next.at = step.value;
  }
  const [month] = await readCosts(records, [{ owner_id: project_id, period: monthOf(now().toISOString()) }]);
  return { jobs, budget, counted: month?.cost ?? { spent: 0, committed: 0 } };
}

const between = (random: () => number, from: number, to: number): number => from + random() * (to - from);

function newJob(
  project_id: string,
  now: Date,
  settings: Settings,
  random: () => number,
  hasMonth: boolean,
): Experiment {
  const size = sizes[Math.floor(random() * sizes.length)] ?? { vcpus: 1, memory: 2048 };
  const timeout = Math.round(between(random, 600, 3600));
  const cost_estimate = costEstimate(prices, { ...size, timeout, isOnNodes: false, gpus: 0, nodes: 1 });
  const minute = ((cost_estimate ?? 0) * minSeconds) / timeout;
  const budget = hasMonth ? null : between(random, minute, (cost_estimate ?? 0) / 2);
  const base = experimentOf(project_id, null);
  const record: Experiment = {
    ...base,
    ...size,
    timeout,
    cost_estimate,
    budget,
    user_id: newId(),
    limit_share: limitShare(base.experiment_id, settings.limits.vcpus),
    status: 'SUBMITTED',
    status_rank: 1,
    attempt: 0,
    batch_attempt: 0,
    batch_job_id: `b-${base.experiment_id}`,
    created_at: now.toISOString(),
    started_at: null,
  };
  return { ...record, charged: highestCost(record) };
}

interface World extends Simulated {
  random: () => number;
  now(): Date;
  /** Seconds that its program takes in all. */
  work: number;
}

const maxAttempts = 3;

/** Live through a job. Yields the time of the next step, in milliseconds. */
async function* liveJob(record: Experiment, world: World): AsyncGenerator<number, SimulatedJob> {
  const { records, settings, random, now } = world;
  const { project_id, experiment_id } = record;
  const wanted = { subject: experimentKey(project_id, experiment_id), parse: parseExperiment };
  const batch_job_id = record.batch_job_id ?? '';
  const spans: { startedAt: number; stoppedAt: number; exitCode: undefined; reason: string }[] = [];
  const log = createLogger('error', () => {});
  let isReported = true;
  let left = world.work * 1000;
  for (let attempt = 1; ; attempt += 1) {
    const identity = { batch_job_id, batch_attempt: attempt, node: 0, isBuild: false };
    const acquired = await acquireLease(records, wanted, identity, now(), newId());
    if ('refused' in acquired) throw new Error(acquired.refused);
    const stop = new JobStop();
    const job = {
      ...acquired,
      node: 0,
      records,
      settings,
      stop,
      heart: new Heart(),
      watch: undefined as never,
      log,
      now,
    };
    const charges = new JobCharges(job);
    const startedAt = now().getTime();
    const isKilled = attempt < maxAttempts && random() < 0.4;
    const endsAt = startedAt + (isKilled ? between(random, 1000, left) : left);
    const beat = usualHeartbeatSeconds * 1000;
    for (let at = startedAt + beat; at < endsAt && stop.reason === undefined; at += beat) {
      yield at;
      await charges.note();
    }
    if (stop.reason === undefined) yield endsAt;
    const stoppedAt = now().getTime();
    left -= stoppedAt - startedAt;
    spans.push({ startedAt, stoppedAt, exitCode: undefined, reason: 'Host EC2 (instance i-1) terminated.' });
    if (stop.reason === undefined && isKilled) {
      // One event in ten is lost.
      if (random() < 0.9) await reportLoss(attempt);
      else isReported = false;
      yield stoppedAt + between(random, 5_000, 900_000);
      continue;
    }
    const present = await requireExperiment(records, project_id, experiment_id);
    const isStopped = stop.reason !== undefined;
    const conclusion = { status: isStopped ? ('CANCELLED' as const) : ('SUCCEEDED' as const), reason: null };
    if (!(await concludeJob(records, present, conclusion, now(), leaseCheck(job))))
      throw new Error('a job did not end');
    const ended = await requireExperiment(records, project_id, experiment_id);
    return {
      budget: record.budget,
      price: (record.cost_estimate ?? 0) / record.timeout,
      attempts: spans.map((span) => (span.stoppedAt - span.startedAt) / 1000),
      isReported,
      cost: actualCost(ended) ?? Number.NaN,
      isStopped,
    };
  }

  async function reportLoss(attempt: number): Promise<void> {
    const present = await requireExperiment(records, project_id, experiment_id);
    const job = {
      id: batch_job_id,
      name: batchNameOf(present),
      status: 'RUNNABLE' as const,
      reason: undefined,
    };
    const report = { ...job, attempt: attempt + 1, exitCode: undefined, attempts: spans };
    await observeJob(records, present, report, now());
  }
}

/** Return the US dollars that AWS charges for a job: each attempt by the second, and a minute at least. */
export const chargedByAws = ({ price, attempts }: SimulatedJob): number =>
  attempts.reduce((sum, seconds) => sum + Math.max(minSeconds, seconds) * price, 0);
