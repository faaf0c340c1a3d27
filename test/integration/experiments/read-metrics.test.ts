import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { takeLease } from '../../../shared/data/jobs/lease.ts';
import { appendMetrics } from '../../../shared/data/metrics/job-metrics.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { lease, time } from './held-lease.ts';

const point = (name: string, step: number): MetricPoint => ({
  name,
  value: name === 'loss' ? 1 / step : step / 100,
  step,
  time: Date.parse(time),
});
/** A point as it is answered. */
type Shown = Omit<MetricPoint, 'time'> & { time: string };
const names = (points: readonly Pick<MetricPoint, 'name' | 'step'>[]) =>
  points.map(({ name, step }) => `${name} ${step}`);

describe('metrics of an experiment', () => {
  let service: TestService;
  let viewer: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    viewer = await service.user('viewer');
    project_id = await newProject(service, await service.user('developer'));
  });

  async function experiment(value: number | null, ...chunks: MetricPoint[][]): Promise<Experiment> {
    const made = experimentOf(project_id, value);
    await service.records.write(putExperiment(made), takeLease(made.experiment_id, 0, lease, undefined));
    for (const [index, points] of chunks.entries()) await append(made, index, points);
    return made;
  }

  const append = ({ experiment_id }: Experiment, sequence: number, points: MetricPoint[]) =>
    appendMetrics(service.records, experiment_id, lease, sequence, points, new Date());
  const read = ({ experiment_id }: Experiment, query: string | Record<string, string> = '', headers = {}) =>
    service.call(readMetrics, { path: { project_id, experiment_id }, query, headers, as: viewer });
  const nextOf = (answer: { headers: Record<string, string> }) =>
    /^<\?(.*)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];

  /** All pages of an experiment that has ended. */
  async function pages(of: Experiment, first: string): Promise<Shown[][]> {
    const found: Shown[][] = [];
    for (let query: string | undefined = first; query !== undefined; ) {
      const answer = await read(of, query);
      found.push(answer.json);
      query = nextOf(answer);
    }
    return found;
  }

  test('are answered in the order of report', async () => {
    const ended = await experiment(0.9, [point('loss', 1), point('accuracy', 1)], [point('loss', 2)]);
    const answer = await read(ended);
    expect(answer.status).toBe(200);
    expect(answer.json[0]).toEqual({ name: 'loss', value: 1, step: 1, time });
    expect(names(answer.json)).toEqual(['loss 1', 'accuracy 1', 'loss 2']);
    expect(answer.headers['link']).toBeUndefined();
    expect((await read(ended, '', { 'If-None-Match': answer.headers['etag'] })).status).toBe(304);
  });

  test('are followed while the experiment runs', async () => {
    const running = await experiment(null, [point('loss', 1)]);
    const first = await read(running);
    const nothing = await read(running, nextOf(first)!);
    expect(nothing.json).toEqual([]);
    await append(running, 1, [point('loss', 2), point('loss', 3)]);
    expect(names((await read(running, nextOf(nothing)!)).json)).toEqual(['loss 2', 'loss 3']);
    const other = await read(running, `${nextOf(first)}&name=loss`);
    expect([other.status, other.json.errors[0].name]).toEqual([400, 'cursor']);
    expect((await read(await experiment(null), nextOf(first)!)).status).toBe(400);
  });

  test('come in pages of any size, all of them or one metric, none lost or repeated', async () => {
    const chunks = [1, 4, 7, 10].map((from) =>
      [from, from + 1, from + 2].flatMap((step) => [
        point('loss', step),
        ...(step % 4 === 0 ? [point('rare', step)] : []),
      ]),
    );
    const ended = await experiment(0.9, ...chunks);
    const all = chunks.flat().map((one): Shown => ({ ...one, time }));
    for (const limit of [1, 2, 3, 5, 100]) {
      expect((await pages(ended, `limit=${limit}`)).flat()).toEqual(all);
      const rare = await pages(ended, `limit=${limit}&name=rare`);
      expect(names(rare.flat())).toEqual(['rare 4', 'rare 8', 'rare 12']);
      expect(rare.every((page) => page.length <= limit)).toBe(true);
    }
    expect((await read(ended, 'name=absent')).json).toEqual([]);
  });

  test('are drawn where an image is accepted', async () => {
    const ended = await experiment(
      0.9,
      [point('loss', 1), point('accuracy', 1)],
      [point('loss', 2), point('<b>', 2)],
    );
    const answer = await read(ended, '', { Accept: 'image/svg+xml' });
    expect(answer.headers).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      vary: 'Accept, Accept-Encoding',
    });
    expect(answer.text).toContain(`Metrics of experiment ${ended.experiment_id}`);
    expect(answer.text).toContain(
      'loss: last 0.5, best 0.5 at step 2. accuracy: last 0.01, best 0.01 at step 1.',
    );
    expect(answer.text).not.toContain('<b>');
    const one = await read(ended, 'name=accuracy', { Accept: 'image/svg+xml' });
    expect(one.text).toContain('<desc>accuracy: last 0.01, best 0.01 at step 1.</desc>');
    const none = await read(await experiment(null), '', { Accept: 'image/svg+xml' });
    expect(none.text).toContain('No metrics have been reported.');
  });

  test.each([
    ['limit=0', 'limit'],
    ['cursor=nonsense', 'cursor'],
    [`cursor=${Buffer.from('after:elsewhere').toString('base64url')}`, 'cursor'],
    ['name=', 'name'],
    [`name=${'n'.repeat(251)}`, 'name'],
    ['step_from=x&step_to=1', 'step_from'],
    ['points=5', 'points'],
    ['step=3', 'step'],
  ])('refuse %s', async (query, name) => {
    const answer = await read(await experiment(0.9), query);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ in: 'query', name }]);
  });

  test('a chart has no pages', async () => {
    const answer = await read(await experiment(0.9), 'limit=3', { Accept: 'image/svg+xml' });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ name: 'limit', message: expect.stringContaining('chart') }]);
  });

  test('of an experiment that is not there are not there', async () => {
    expect((await read(experimentOf(project_id, null))).status).toBe(404);
  });
});
