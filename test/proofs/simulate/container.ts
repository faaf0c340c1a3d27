import { createLogger } from '../../../shared/core/log.ts';
import { changeArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { experimentKey, parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import {
  heartbeat,
  holdsLease,
  type Lease,
  loneBeats,
  putProgress,
  usualHeartbeatSeconds,
} from '../../../shared/data/jobs/lease.ts';
import { trackingPartition } from '../../../shared/data/metrics/metric-summaries.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { JobCharges } from '../../../shared/runner/job/charge-job.ts';
import { Heart } from '../../../shared/runner/job/heart.ts';
import { holdJob, noteProgress } from '../../../shared/runner/job/hold-job.ts';
import { JobStop } from '../../../shared/runner/job/job-stop.ts';
import { longPatience, retryFor } from '../../../shared/runner/job/retry-for.ts';
import { JobWatch, questionPause } from '../../../shared/runner/telemetry/job-watch.ts';
import { shippingPace, stretched } from '../../../shared/runner/telemetry/shipping-pace.ts';
import type { ModelJob } from './batch-model.ts';
import type { World } from './world.ts';

/** Seconds between two looks at what is due. */
const stepSeconds = 5;

/** Packed bytes a second: of a line of the log, and of two points. Each chunk and summary has some in any case. */
const bytesPerSecond = { log: 20, points: 12 };
const leastBytes = 200;

/** Files that a training leaves, as many at a time as its uploader sends at once. */
const groups = 2;
const filesAtOnce = 6;

const filesOf = (experiment_id: string, group: number) =>
  Array.from({ length: filesAtOnce }, (_, index) => {
    const path = `file-${group}-${index}`;
    const value = {
      path,
      size: 1_000,
      sha256: 'a'.repeat(64),
      media_type: 'application/octet-stream',
      object: `${experiment_id}/${path}`,
      created_at: now().toISOString(),
    };
    return { path, value, previous: undefined };
  });

const silent = createLogger('error', () => undefined);

const now = () => new Date();

/** What happens to the jobs of a world. */
export interface Fate {
  /** Seconds of work that a training still has to do from its last checkpoint. */
  workLeft(experiment_id: string): number;
  /** Seconds between two checkpoints; undefined without any. */
  checkpointSeconds?: number;
  /** Called with the seconds of work at each checkpoint, and those that a lost host took. */
  kept?(experiment_id: string, seconds: number): void;
  lost?(experiment_id: string, seconds: number): void;
  /** Whether the host of an attempt is lost at a time in epoch milliseconds. */
  isHostLost?(job: ModelJob, startedAt: number): boolean;
  /** How often an event arrives. */
  copies?(): number;
  began?(experiment_id: string): void;
  ended?(experiment_id: string): void;
  /** Called with the seconds of each container. */
  ran?(seconds: number): void;
}

type Sent = 'note' | 'log' | 'points' | 'machine';

/** What a container sends without being asked: heartbeats, log lines, points, and those of the machine. */
class Telemetry {
  readonly #world: World;
  readonly #job: { project_id: string; experiment_id: string; lease: Lease };
  readonly #heart: Heart;
  /** Seconds at which each was sent last. */
  readonly #sent: Record<Sent, number> = { note: 0, log: 0, points: 0, machine: 0 };
  #chunks = 0;

  constructor(world: World, job: { project_id: string; experiment_id: string; lease: Lease }, heart: Heart) {
    this.#world = world;
    this.#job = job;
    this.#heart = heart;
  }

  /** @returns whether it is time to charge the job */
  async send(second: number): Promise<boolean> {
    const age = 1000 * second;
    // Whether a client reads is a read of half a unit, which takes nothing from the limits of others.
    const questions = (1000 * stepSeconds) / questionPause(age);
    this.#world.meter.billUnits('reads', 'questions of jobs', questions / 2);
    const { unwatched, unwatchedSystem } = shippingPace;
    const pauses = {
      log: stretched(unwatched, age),
      points: stretched(unwatched, age),
      machine: stretched(unwatchedSystem, age),
      note: beatMilliseconds,
    };
    const hasWaited = (what: Sent, share = 1): boolean =>
      1000 * (second - this.#sent[what]) >= share * pauses[what];
    if (hasWaited('points') || hasWaited('machine'))
      // What has waited for half of its pause goes along, as with the shippers of a job.
      await this.#ship(second, { points: hasWaited('points', 0.5), log: hasWaited('log', 0.5) });
    else if (hasWaited('log')) await this.#ship(second, { points: false, log: true }, false);
    const { experiment_id, lease } = this.#job;
    if (this.#heart.age >= beatMilliseconds)
      await this.#world.records.write(heartbeat(experiment_id, 0, lease, now())).then(
        () => this.#heart.beaten(),
        () => undefined,
      );
    if (!hasWaited('note')) return false;
    this.#sent.note = second;
    return true;
  }

  /** Store a chunk of points, of the log, or of both in one transaction. */
  async #ship(second: number, has: { points: boolean; log: boolean }, isMetric = true): Promise<void> {
    const { project_id, experiment_id, lease } = this.#job;
    this.#chunks += 1;
    const item = (bytes: number) => ({
      record_type: 'chunk',
      schema_version: 0,
      packed: 'x'.repeat(leastBytes + bytes),
    });
    const chunk = (kind: string, bytes: number) => {
      const sk = `${kind}#${String(lease.number).padStart(4, '0')}#${String(this.#chunks).padStart(8, '0')}`;
      return { put: { pk: jobPartition(experiment_id), sk, ...item(bytes) } };
    };
    const points = has.points ? bytesPerSecond.points * (second - this.#sent.points) : 0;
    const summaries = { pk: trackingPartition(project_id), sk: `${experiment_id}#METRICS#0`, ...item(0) };
    const writes = [
      ...(isMetric ? [chunk('METRIC', points), { put: summaries }] : []),
      ...(has.log ? [chunk('LOG', bytesPerSecond.log * (second - this.#sent.log))] : []),
    ];
    if (isMetric) this.#sent.machine = second;
    if (has.points) this.#sent.points = second;
    if (has.log) this.#sent.log = second;
    await retryFor(longPatience, () =>
      this.#world.records.write(heartbeat(experiment_id, 0, lease, now()), ...writes),
    );
    this.#heart.beaten();
  }
}

const beatMilliseconds = 1000 * usualHeartbeatSeconds * loneBeats;

/** Write home what a job's container does. @returns whether its host was lost */
async function runContainer(world: World, job: ModelJob, fate: Fate): Promise<boolean> {
  const { records, clock, settings } = world;
  const { PROJECT_ID: project_id = '', EXPERIMENT_ID: experiment_id = '', FORMER_ATTEMPTS } = job.environment;
  const subject = experimentKey(project_id, experiment_id);
  const former = FORMER_ATTEMPTS === undefined ? {} : { former_attempts: Number(FORMER_ATTEMPTS) };
  const batch_attempt = (former.former_attempts ?? 0) + job.attempts.length + 1;
  const me = { batch_job_id: job.jobId, batch_attempt, ...former, node: 0, isBuild: false };
  const startedAt = clock.now;
  const acquired = await holdJob(records, { subject, parse: parseExperiment }, me, now);
  if ('refused' in acquired) return false;
  fate.began?.(experiment_id);
  const { lease, record } = acquired;
  const watch = new JobWatch(records, experiment_id, 0, now);
  const heart = new Heart();
  const held = {
    record,
    lease,
    node: 0,
    records,
    settings,
    stop: new JobStop(),
    heart,
    watch,
    log: silent,
    now,
  };
  await noteProgress(held, { status_reason: null });
  const charges = new JobCharges(held);
  const telemetry = new Telemetry(world, { project_id, experiment_id, lease }, heart);
  const seconds = fate.workLeft(experiment_id);
  const { checkpointSeconds = Number.POSITIVE_INFINITY } = fate;
  let kept = 0;
  for (let second = stepSeconds; second < seconds; second += stepSeconds) {
    await clock.sleep(1000 * stepSeconds);
    if (fate.isHostLost?.(job, startedAt)) {
      fate.lost?.(experiment_id, second - kept);
      return true;
    }
    if (second - kept >= checkpointSeconds) {
      fate.kept?.(experiment_id, second - kept);
      kept = second;
      const progress = putProgress(experiment_id, 0, lease, { attempt: batch_attempt, kept_seconds: 0 });
      await retryFor(longPatience, () => records.write(progress));
    }
    if (await telemetry.send(second)) await charges.note();
  }
  const owner = { experiment: record, lease, kind: 'artifact', maxProjectBytes: 1e12 } as const;
  for (let group = 0; group < groups; group += 1)
    await retryFor(longPatience, () => changeArtifacts(records, owner, filesOf(experiment_id, group)));
  const conclusion = { status: 'SUCCEEDED', reason: null, exitCode: 0 } as const;
  const isHeld = holdsLease(experiment_id, 0, lease);
  if (await retryFor(longPatience, () => concludeJob(records, record, conclusion, now(), isHeld)))
    fate.ended?.(experiment_id);
  return false;
}

const interrupted = 'Your Spot Task was interrupted.';

/** Bring a job of the model through its statuses, with an event of each, and its container through its runs. */
export async function runJob(world: World, job: ModelJob, fate: Fate): Promise<void> {
  const { clock } = world;
  const move = async (status: ModelJob['status'], after: number) => {
    await clock.sleep(after * 1000);
    job.status = status;
    // EventBridge tries again what its function fails on; the reconciler finds what is lost.
    for (let copy = fate.copies?.() ?? 1; copy > 0; copy -= 1)
      world.deliver({ detail: structuredClone(job) }).catch(() => undefined);
  };
  for (;;) {
    await move('RUNNABLE', 2);
    await move('STARTING', 20);
    await move('RUNNING', 20);
    const startedAt = clock.now;
    const outcome = await runContainer(world, job, fate).catch(() => 'crashed' as const);
    const isLost = outcome === true;
    const statusReason = isLost ? interrupted : 'Essential container in task exited';
    const container = isLost ? {} : { exitCode: outcome === 'crashed' ? 1 : 0 };
    fate.ran?.((clock.now - startedAt) / 1000);
    job.attempts.push({ startedAt, stoppedAt: clock.now, statusReason, container });
    job.statusReason = statusReason;
    if (!isLost) return move(outcome === 'crashed' ? 'FAILED' : 'SUCCEEDED', 2);
    if (job.attempts.length >= job.retryStrategy.attempts) return move('FAILED', 2);
  }
}
