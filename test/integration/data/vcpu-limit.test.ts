import { ulid } from 'ulid';
import { beforeEach, describe, expect, test } from 'vitest';
import { endJob, type UnfinishedJob } from '../../../shared/data/jobs/job.ts';
import { auditVcpus, limitShare, shareKey } from '../../../shared/data/jobs/vcpu-shares.ts';
import { spreadId } from '../../../shared/data/lists/spread-list.ts';
import { TableBusyError } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { beginJob, JobLimitError } from '../../../shared/jobs/job-slots.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { emptyBatch, recordedJobs } from '../../support/recorded-jobs.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type TestService, testService } from '../../support/service.ts';
import { heldVcpus, sharesOf } from '../../support/unfinished.ts';

const newId = () => spreadId(ulid().toLowerCase());
const unfinishedJobs = 1000;

let service: TestService;
beforeEach(async () => {
  service = await testService();
});

const jobOf = (vcpus: number, limit: number): UnfinishedJob => {
  const job_id = newId();
  const subject = { pk: 'EXPERIMENTS#x', sk: job_id };
  const limit_share = limitShare(job_id, limit);
  return {
    job_id,
    kind: 'train',
    subject,
    project_id: null,
    user_id: newId(),
    vcpus,
    limit_share,
    cluster_owner: null,
  };
};

/** Begin a job; undefined where the deployment's limit refuses it. */
async function begin(vcpus: number, limit: number, records = service.records) {
  const job = jobOf(vcpus, limit);
  try {
    await beginJob(records, job, { unfinishedJobs, vcpus: limit, sharedCluster: false }, []);
    return job;
  } catch (error) {
    if (error instanceof JobLimitError && error.limit === 'vcpus') return undefined;
    throw error;
  }
}

const end = (job: UnfinishedJob) => service.records.write(...endJob(job));
const issued = async () =>
  (await sharesOf(service.records)).reduce((sum, { capacity }) => sum + Number(capacity), 0);

describe('the limit of vCPUs', () => {
  test.each([1, 16, 100, 1000])('%s is reached to the last vCPU, and never exceeded', async (limit) => {
    const jobs: UnfinishedJob[] = [];
    const size = Math.max(1, limit / 50);
    for (let held = 0; held < limit; held += size) jobs.push((await begin(size, limit))!);
    expect(jobs).not.toContain(undefined);
    expect(await heldVcpus(service.records)).toBe(limit);
    expect(await begin(0.25, limit)).toBeUndefined();
    await end(jobs[3 % jobs.length]!);
    expect(await begin(size, limit)).toBeDefined();
    expect(await begin(0.25, limit)).toBeUndefined();
  });

  test('takes one job that is as large as all shares together', async () => {
    const large = await begin(1024, 1024);
    expect(large).toBeDefined();
    expect(await begin(0.25, 1024)).toBeUndefined();
    await end(large!);
    expect(await begin(1024, 1024)).toBeDefined();
  });

  test('holds while jobs of all sizes begin and end at the same time, and refuses none for which there is room', async () => {
    const limit = 256;
    let least = 0;
    let refused = 0;
    /** What jobs hold or ask for, after each change: never less than what the shares have given out. */
    const claimed = [0];
    const claim = (vcpus: number) => claimed.push(claimed.at(-1)! + vcpus);
    const lane = async (seed: number) => {
      const random = seededRandom(seed);
      const own: UnfinishedJob[] = [];
      const endOne = async () => {
        const [gone] = own.splice(Math.floor(random() * own.length), 1);
        await end(gone!);
        claim(-gone!.vcpus);
      };
      for (let step = 0; step < 15; step += 1) {
        const vcpus = [0.25, 1, 8, 40, 64][Math.floor(random() * 5)]!;
        const asked = claim(vcpus) - 1;
        const job = await begin(vcpus, limit);
        if (job === undefined) {
          refused += 1;
          expect(Math.max(...claimed.slice(asked))).toBeGreaterThan(limit);
          claim(-vcpus);
        } else own.push(job);
        least = Math.min(least, ...(await sharesOf(service.records)).map(({ free }) => Number(free)));
        if (random() < 0.3 && own.length > 0) await endOne();
      }
      while (own.length > 0) await endOne();
    };
    // With these seeds each lane alone asks for more than there is, so some are refused whoever is faster.
    await Promise.all([11, 24, 26, 31].map(lane));
    expect(least).toBe(0);
    expect(refused).toBeGreaterThan(0);
    expect(await heldVcpus(service.records)).toBe(0);
    expect(await issued()).toBe(limit);
    expect(await begin(limit, limit)).toBeDefined();
  });

  test('that is lowered lets no job begin until enough have ended; one that is raised deals out the rest', async () => {
    const jobs = [await begin(300, 640), await begin(300, 640)];
    expect(await begin(1, 256)).toBeUndefined();
    await end(jobs[0]!);
    expect(await begin(1, 256)).toBeUndefined();
    await end(jobs[1]!);
    const small = await begin(256, 256);
    expect(small).toBeDefined();
    expect(await issued()).toBe(256);
    expect(await begin(744, 1000)).toBeDefined();
    expect(await begin(0.25, 1000)).toBeUndefined();
    expect(await issued()).toBe(1000);
  });

  test('loses nothing when a transaction dies at any of its writes', async () => {
    const limit = 128;
    for (let death = 1; death <= 12; death += 1) {
      let writes = 0;
      const dying: TableWriter<'records'> = {
        ...service.records,
        async write(...given) {
          writes += 1;
          if (writes === death) throw new TableBusyError('it died');
          await service.records.write(...given);
        },
      };
      await begin(death * 5, limit, dying).then(
        (job) => job && end(job),
        (error) => expect(error).toBeInstanceOf(TableBusyError),
      );
      expect(await heldVcpus(service.records)).toBe(0);
    }
    expect(await begin(limit, limit)).toBeDefined();
  });

  test('comes back to what jobs hold with the next pass of the reconciler', async () => {
    const { service: own, settings, experiments } = await recordedJobs(2, { LIMIT_VCPUS: '16' });
    await own.records.write({ update: shareKey(0), change: { set: { free: 3 } } });
    const running = experiments.map(({ batch_job_id: id, experiment_id }) => ({
      id: id ?? '',
      name: `train-${experiment_id}`,
      status: 'RUNNING' as const,
      reason: undefined,
      attempt: 1,
      exitCode: undefined,
      attempts: [],
    }));
    const batch = { ...emptyBatch, describe: async () => running };
    await reconcileAll({ records: own.records, batch, settings, now: () => new Date() });
    expect(await own.records.get(shareKey(0))).toMatchObject({ capacity: 16, free: 14 });
  });

  test('is not corrected by jobs that were read while others began', async () => {
    await begin(4, 16);
    const audit = await auditVcpus(service.records);
    await begin(2, 16);
    await audit.correct();
    expect(await heldVcpus(service.records)).toBe(6);
  });

  test('is no reason to refuse for a condition of another write', async () => {
    const job = jobOf(1, 16);
    const missing = { check: { pk: 'PROJECTS', sk: newId() }, if: { exists: true } };
    const begun = beginJob(service.records, job, { unfinishedJobs, vcpus: 16, sharedCluster: false }, [
      missing,
    ]);
    const error = await begun.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConditionFailedError);
    expect(error).toMatchObject({ failed: expect.arrayContaining([undefined]) });
  });
});
