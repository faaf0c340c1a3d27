import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { isoTime } from '../../../shared/core/formats.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { metricChunk } from '../../../shared/data/metrics/job-metrics.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import { compactPoints, pointLists } from '../../../shared/data/metrics/point-blocks.ts';
import { purgePoints } from '../../../shared/data/metrics/purge-points.ts';
import { packChunk } from '../../../shared/data/packed/chunk-stream.ts';
import { storedNumber } from '../../../shared/data/table/stored-number.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { readPoints, type WantedPoints } from '../../../shared/experiments/read-points.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

type Records = TableWriter<'records'>;
const timeOf = (ms: number) => 1_770_000_000_000 + ms;
const odd = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e308, 5e-324];
const names = ['loss', 'accuracy', 'a/"<b>"', '__proto__', 'n'.repeat(250)];

describe('points of an experiment in blocks by metric', () => {
  let service: TestService;
  let records: Records;
  let as: TestUser;
  const random = seededRandom(11);

  beforeAll(async () => {
    service = await testService();
    records = service.records;
    as = await service.user('developer');
  });

  /** Some chunks of some points, as a job writes them, and a plain array of the same. */
  async function written(job_id: string, plain: MetricPoint[], from: number, chunks: number, size: number) {
    const items = [];
    for (let sequence = from; sequence < from + chunks; sequence += 1) {
      const points = Array.from({ length: 1 + Math.floor(random() * size) }, (): MetricPoint => {
        const step = random() < 0.1 ? null : Math.floor(random() * 1000) - 10;
        const value = random() < 0.2 ? odd[Math.floor(random() * odd.length)]! : random();
        return {
          name: names[Math.floor(random() * names.length)]!,
          value,
          step,
          time: timeOf(plain.length * 7),
        };
      });
      plain.push(...points);
      items.push(metricChunk(job_id, 1 + Math.floor(sequence / 100), sequence % 100, points));
    }
    for (let at = 0; at < items.length; at += 90)
      await records.write(...items.slice(at, at + 90).map((put) => ({ put })));
  }

  async function history(job_id: string, wanted: WantedPoints, limit: number): Promise<MetricPoint[]> {
    const found: MetricPoint[] = [];
    for (let position: string | undefined; ; ) {
      const page = await readPoints(records, job_id, wanted, position, limit);
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      found.push(...page.rows);
      if (!page.more) return found;
      position = page.position;
    }
  }
  /** A condition that always holds. */
  const holds = (job_id: string) => ({
    check: { pk: jobPartition(job_id), sk: 'NOTHING' },
    if: { exists: false },
  });
  const manifestOf = (job_id: string) => pointLists.readManifest(records, jobPartition(job_id));

  test('are those of a plain array, in its order, for any metrics, range and page', async () => {
    const job_id = ulid().toLowerCase();
    const plain: MetricPoint[] = [];
    for (const [from, chunks] of [
      [0, 10],
      [10, 190],
      [200, 70],
      [270, 20],
    ] as const) {
      await written(job_id, plain, from, chunks, 12);
      await compactPoints(records, job_id);
      for (const wanted of [
        { names: ['loss'] },
        { names: names.slice(2), step_from: 5, step_to: 700 },
        { step_from: 990 },
      ]) {
        const expected = plain.filter(
          ({ name, step }) =>
            (wanted.names?.includes(name) ?? true) &&
            (wanted.step_from === undefined || (step ?? Number.NaN) >= wanted.step_from) &&
            (wanted.step_to === undefined || (step ?? Number.NaN) <= wanted.step_to),
        );
        for (const limit of [37, 100_000]) expect(await history(job_id, wanted, limit)).toEqual(expected);
      }
    }
    const { state, blocks } = await manifestOf(job_id);
    expect(state.points).toBeGreaterThan(plain.length / 2);
    expect(blocks.length).toBeLessThan(4);
    expect(await history(job_id, {}, 1000)).toEqual(plain);
    expect(await history(job_id, { names: ['absent'] }, 10)).toEqual([]);
  });

  test('lose those that are void, and readers who follow them miss none of the others', async () => {
    const job_id = ulid().toLowerCase();
    const plain: MetricPoint[] = [];
    await written(job_id, plain, 0, 70, 12);
    await compactPoints(records, job_id);
    await written(job_id, plain, 70, 9, 12);
    const first = await readPoints(records, job_id, { names: ['loss'] }, undefined, 20);
    const given = { names: new Set(['loss', 'accuracy']), step: 400 };
    const isKept = ({ name, step }: MetricPoint) => !given.names.has(name) || (step ?? 0) < 400;

    const left = await purgePoints(records, job_id, given, holds(job_id));

    const kept = plain.filter(isKept);
    expect(kept.length).toBeLessThan(plain.length);
    expect(await history(job_id, {}, 1000)).toEqual(kept);
    expect(await history(job_id, { names: ['loss'] }, 37)).toEqual(
      kept.filter(({ name }) => name === 'loss'),
    );
    expect(left.get('loss')?.count).toBe(kept.filter(({ name }) => name === 'loss').length);
    await written(job_id, kept, 79, 3, 12);
    const next = await readPoints(records, job_id, { names: ['loss'] }, first.position, 100_000);
    expect([...first.rows.filter(isKept), ...next.rows]).toEqual(kept.filter(({ name }) => name === 'loss'));
  });

  test('are read of chunks that a release wrote as rows', async () => {
    const job_id = ulid().toLowerCase();
    const rows = odd.map((value, index): MetricPoint => {
      const step = index === 0 ? null : index;
      return { name: names[index % 2]!, value, step, time: timeOf(index) };
    });
    const stored = rows.map((row) => ({ ...row, value: storedNumber(row.value), time: isoTime(row.time) }));
    const pk = jobPartition(job_id);
    await records.write({ put: await packChunk({ pk, sk: 'METRIC#0001#00000000' }, stored) });
    await records.write({ put: metricChunk(job_id, 1, 1, rows) });
    expect(await history(job_id, {}, 1000)).toEqual([...rows, ...rows]);
    const loss = rows.filter(({ name }) => name === 'loss');
    expect(await history(job_id, { names: ['loss'] }, 2)).toEqual([...loss, ...loss]);
  });

  test('go on at a position of before they were compacted', async () => {
    const job_id = ulid().toLowerCase();
    const plain: MetricPoint[] = [];
    await written(job_id, plain, 0, 70, 5);
    const loss = plain.filter(({ name }) => name === 'loss');
    const first = await readPoints(records, job_id, { names: ['loss'] }, undefined, 20);
    await compactPoints(records, job_id);
    const second = await readPoints(records, job_id, { names: ['loss'] }, first.position);
    expect([...first.rows, ...second.rows]).toEqual(loss);
  });

  test('are neither lost nor doubled by a crash of the writer, or by two of them', async () => {
    const job_id = ulid().toLowerCase();
    const plain: MetricPoint[] = [];
    await written(job_id, plain, 0, 80, 4);
    const dead: Records = { ...records, write: () => Promise.reject(new Error('killed')) };
    await expect(compactPoints(dead, job_id)).rejects.toThrow('killed');
    expect(await history(job_id, { names: ['loss', 'accuracy'] }, 50)).toEqual(
      plain.filter(({ name }) => name === 'loss' || name === 'accuracy'),
    );
    // The reply of the write is lost, and another writer does the same at the same time.
    const lost: Records = {
      ...records,
      write: (...writes) => records.write(...writes).then(() => Promise.reject(new Error('killed'))),
    };
    await Promise.allSettled([compactPoints(lost, job_id), compactPoints(records, job_id)]);
    await written(job_id, plain, 80, 66, 4);
    await Promise.all([compactPoints(records, job_id), compactPoints(records, job_id)]);
    expect((await manifestOf(job_id)).state.points).toBeGreaterThan(0);
    expect(await history(job_id, { step_from: -100 }, 33)).toEqual(plain.filter(({ step }) => step !== null));
  });

  test('are left to whoever replaced a block while another writer was about to read it', async () => {
    const job_id = ulid().toLowerCase();
    const plain: MetricPoint[] = [];
    await written(job_id, plain, 0, 66, 1);
    await compactPoints(records, job_id);
    await written(job_id, plain, 66, 66, 1);
    const [before] = (await manifestOf(job_id)).blocks;
    let overtaken = 0;
    const slow: Records = {
      ...records,
      async batchGet(keys) {
        overtaken += 1;
        await compactPoints(records, job_id);
        return records.batchGet(keys);
      },
    };
    await compactPoints(slow, job_id);
    expect(overtaken).toBe(1);
    expect((await manifestOf(job_id)).blocks.map(({ id }) => id)).not.toContain(before?.id);
    expect(await history(job_id, {}, 100)).toEqual(plain);
  });

  test('are answered by name, by steps and as curves; a log of many batches is compacted as it grows', async () => {
    const project_id = await newProject(service, as);
    const experiment_id = (await service.call(create, { path: { project_id }, as, ...json({}) })).json
      .experiment_id;
    const path = { project_id, experiment_id };
    for (let batch = 0; batch < 66; batch += 1) {
      const metrics = [0, 1, 2].flatMap((at) => {
        const step = batch * 3 + at;
        const point = { step, time: isoTime(timeOf(step)) };
        return [
          { name: 'loss', value: step === 100 ? 99 : 1 / (1 + step), ...point },
          { name: 'lr', value: 0.1, ...point },
        ];
      });
      const answer = await service.call(logMetrics, { path, as, ...json({ metrics }) });
      expect(answer.json.stored, answer.text).toBe(6);
    }
    expect((await manifestOf(experiment_id)).state.points).toBe(384);
    const read = async (query: string) => {
      const answer = await service.call(readMetrics, { path, query, as });
      expect(answer.status, answer.text).toBe(200);
      return answer.json as { name: string; step: number; value: number }[];
    };
    expect((await read('name=loss&step_from=190&step_to=195.5')).map(({ step }) => step)).toEqual([
      190, 191, 192, 193, 194, 195,
    ]);
    expect((await read('name=loss&name=lr&step_from=197')).map(({ name }) => name)).toEqual(['loss', 'lr']);
    const curve = await read('name=loss&points=20');
    expect(curve.length).toBeLessThanOrEqual(20);
    expect(curve).toContainEqual({ name: 'loss', step: 100, value: 99, time: isoTime(timeOf(100)) });
    expect([curve[0]!.step, curve.at(-1)!.step]).toEqual([0, 197]);
    expect(await read('points=1000&step_from=196')).toHaveLength(4);
    // The same batch again is stored once, though it is in blocks.
    const again = { name: 'loss', value: 1 / 3, step: 2, time: isoTime(timeOf(2)) };
    expect((await service.call(logMetrics, { path, as, ...json({ metrics: [again] }) })).json.stored).toBe(0);
    const refused = await service.call(readMetrics, { path, query: 'points=3&limit=5&step_to=x', as });
    expect(refused.json.errors.map(({ name }: { name: string }) => name).sort()).toEqual([
      'points',
      'step_to',
    ]);
    expect(
      (await service.call(readMetrics, { path, query: 'points=9&limit=5', as })).json.errors,
    ).toMatchObject([{ name: 'limit' }]);
  });
});
