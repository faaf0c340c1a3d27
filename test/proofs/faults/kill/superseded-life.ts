import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rankOf } from '../../../../shared/data/jobs/job-status.ts';
import { findLease } from '../../../../shared/data/jobs/lease.ts';
import {
  isCompression,
  type JobRecord,
  jobIdOf,
  unfinishedJobOf,
} from '../../../../shared/jobs/job-record.ts';
import { handOverVariables } from '../../../../shared/jobs/submission.ts';
import { findOrphans } from '../../../support/inventory.ts';
import type { TracedCall } from '../injection/middleware.ts';
import { must } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import { startProgram } from '../world/process.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import { stopped } from '../world/stopped.ts';
import type { JobKind } from './course.ts';
import type { Lane } from './lane.ts';
import { prepareCourse } from './prepare-course.ts';
import type { Mark } from './strikes.ts';

export interface SupersededLife {
  isHit: boolean;
  faults: string[];
  calls: TracedCall[];
  /** Writes that the superseded container tried. */
  tried: number;
  /** Of them those that the table took. */
  accepted: number;
}

/**
 * A container is paused at the mark and taken for dead; another one takes its job over, and the first goes on: while
 * the second runs, or with `isLate` after its end.
 */
export async function liveSuperseded(
  lane: Lane,
  mark: Omit<Mark, 'role'> | undefined,
  isLate: boolean,
  kind: Exclude<JobKind, 'build' | 'cluster'> = 'train',
): Promise<SupersededLife> {
  const folder = await mkdtemp(join(lane.folder, 'superseded-'));
  await chmod(folder, 0o711);
  const trace = join(folder, 'trace');
  await writeFile(trace, '');
  // Batch is not asked: what it would do is done here.
  const service = await newService(lane.engines, 'http://127.0.0.1:9');
  try {
    const { token, user } = await newDeveloper(service);
    const witness = join(folder, 'ran');
    await writeFile(witness, '');
    await chmod(witness, 0o666);
    const course = await prepareCourse(kind, {
      ...{ service, token, user_id: user.user_id, scenario: 'again' as const, folder, witness },
    });
    const batchJob = randomUUID();
    const { endpoint, question } = course.create;
    await must(endpoints[endpoint], service.environment, question);
    const [record] = await course.records();
    if (record === undefined) throw new Error('nothing was recorded');
    const key = unfinishedJobOf(record).subject;
    const set = { status: 'SUBMITTED', status_rank: rankOf('SUBMITTED'), batch_job_id: batchJob };
    await service.records.write({ update: key, change: { set } });
    const variables = await handOverVariables(service.records, service.accounts, record);
    const start = (attempt: number, kill?: Omit<Mark, 'role'>) => {
      const { ACCOUNTS_TABLE: _, ...environment } = service.environment;
      const given = {
        ...course.hostEnvironment,
        ...subjectOf(record),
        ...variables,
        // Each names its own processes by this; on AWS each has a host of its own.
        AWS_BATCH_JOB_ID: attempt === 1 ? batchJob : `${batchJob}#0`,
        AWS_BATCH_JOB_ATTEMPT: String(attempt),
        WORK_DIR: join(lane.folder, 'work'),
        ENVIRONMENTS_DIR: join(lane.folder, 'environments'),
      };
      const plan = { trace, hurry: 100, ...(kill && { kill: { ...kill, signal: 'SIGSTOP' as const } }) };
      return startProgram(lane.program, 'container', {}, { ...environment, ...given }, plan);
    };
    const first = start(1, mark);
    const isHit = await stopped(first.pid, first.ended);
    const faults: string[] = [];
    let second: ReturnType<typeof start> | undefined;
    if (isHit) {
      second = start(2);
      const leased = async () => (await findLease(service.records, jobIdOf(record), 0))?.batch_attempt === 2;
      if (isLate) await second.ended;
      else while (!(await Promise.race([leased(), second.ended.then(() => true)]))) await sleep(5);
      process.kill(first.pid, 'SIGCONT');
      await second.ended;
    }
    await first.ended;
    faults.push(...(await findFaults(service, key)));
    const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
    const calls = lines.map((line): TracedCall => JSON.parse(line));
    return { isHit, faults, calls, ...writesOf(calls, first.pid, second?.pid) };
  } finally {
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** What a container is told of its job. */
const subjectOf = (record: JobRecord): Record<string, string> =>
  isCompression(record)
    ? { STRATEGY_ID: record.strategy_id }
    : { PROJECT_ID: record.project_id, EXPERIMENT_ID: record.experiment_id, PHASE: 'run' };

/** What the first process sent to be written once the second one had its lease, and what of it was taken. */
function writesOf(calls: readonly TracedCall[], first: number, second: number | undefined) {
  const taken = calls.findIndex(
    ({ pid, point, outcome }) => pid === second && point === 'leased' && outcome === 'done',
  );
  if (taken === -1) return { tried: 0, accepted: 0 };
  const later = calls
    .slice(taken)
    .filter(({ pid, operation }) => pid === first && operation === 'TransactWriteItems');
  const sent = new Set(later.filter(({ outcome }) => outcome === 'sent').map(({ call }) => call));
  const accepted = later.filter(({ call, outcome }) => outcome === 'done' && sent.has(call));
  return { tried: sent.size, accepted: accepted.length };
}

async function findFaults(service: Service, key: { pk: string; sk: string }): Promise<string[]> {
  const inventory = await service.inventory();
  const record = inventory.records.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
  const objects = new Set(inventory.objects.map(({ key: object }) => object));
  const named = inventory.records.flatMap(({ object }) => (object === undefined ? [] : [String(object)]));
  return [
    ...(record?.['status'] === 'SUCCEEDED'
      ? []
      : [`stale: it is ${record?.['status']}: ${record?.['status_reason']}`]),
    ...named.filter((object) => !objects.has(object)).map((object) => `lost: ${object}`),
    ...findOrphans(inventory).map(({ kind, where, why }) => `${kind}: ${where}: ${why}`),
  ];
}
