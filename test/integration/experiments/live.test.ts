import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteToken } from '../../../functions/auth/delete-token.endpoint.ts';
import { endpoint as listLive } from '../../../functions/experiments/live/list-live-experiments.endpoint.ts';
import { endpoint as readLive } from '../../../functions/experiments/live/read-live-experiment.endpoint.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as remove } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as update } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import {
  type Experiment,
  experimentKey,
  putExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { appendLog, type LogLine } from '../../../shared/data/jobs/job-log.ts';
import { findLease, takeLease } from '../../../shared/data/jobs/lease.ts';
import { appendMetrics } from '../../../shared/data/metrics/job-metrics.ts';
import type { Park } from '../../../shared/http/pipeline/proxy-event.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';
import { lease, time } from './held-lease.ts';

const line = (message: string): LogLine => ({ time, stream: 'stdout', message });
const point = (name: string, step: number) => ({ name, value: step / 10, step, time: Date.parse(time) });

let service: TestService;
let owner: TestUser;
let project_id: string;
beforeAll(async () => {
  service = await testService();
  owner = await service.user('developer');
  project_id = await newProject(service, owner);
});

/** A wait that lets the service wait, and does something once it has begun. */
function parking(act: () => unknown = () => undefined): { park: Park; waits: () => number } {
  let waits = 0;
  return {
    waits: () => waits,
    async park(wait) {
      waits += 1;
      const done = wait(new AbortController().signal);
      await Promise.all([done, act()]);
      return true;
    },
  };
}

async function running(more: Partial<Experiment> = {}): Promise<Experiment> {
  const made = { ...experimentOf(project_id, null), checked_at: new Date().toISOString(), ...more };
  await service.records.write(putExperiment(made), takeLease(made.experiment_id, 0, lease, undefined));
  return made;
}
let sequence = 0;
const print = ({ experiment_id }: Experiment, ...messages: string[]) =>
  appendLog(service.records, experiment_id, 0, lease, sequence++, messages.map(line), new Date());
const report = ({ experiment_id }: Experiment, ...steps: number[]) => {
  const points = steps.flatMap((step) => [point('loss', step), point('system/cpu', step)]);
  return appendMetrics(service.records, experiment_id, lease, sequence++, points, new Date());
};
const end = (of: Experiment) =>
  service.records.write({
    update: experimentKey(project_id, of.experiment_id),
    change: { set: { status: 'SUCCEEDED', status_rank: 6, stopped_at: time }, add: { version: 1 } },
  });
const read = ({ experiment_id }: Pick<Experiment, 'experiment_id'>, query = '', more: Call = {}) =>
  service.call(readLive, { path: { project_id, experiment_id }, query, as: owner, ...more });
const linesOf = (answer: { json: { log: LogLine[] } }) => answer.json.log.map(({ message }) => message);
const stepsOf = (answer: { json: { points: { name: string; step: number }[] } }) =>
  answer.json.points.filter(({ name }) => name === 'loss').map(({ step }) => step);

describe('an experiment that is followed', () => {
  test('tells its state, lines and points at once, then what is new, then its end', async () => {
    const run = await running();
    await print(run, 'one', 'two');
    await report(run, 1, 2);

    const first = await read(run);
    await print(run, 'three');
    await report(run, 3);
    const second = await read(run, `after=${first.json.after}`);
    const third = await read(run, `after=${second.json.after}`);
    await print(run, 'four');
    await end(run);
    const last = await read(run, `after=${third.json.after}`);

    expect([first, second, third, last].map(linesOf)).toEqual([['one', 'two'], ['three'], [], ['four']]);
    expect([first, second, third, last].map(stepsOf)).toEqual([[1, 2], [3], [], []]);
    expect(first.json.points[1]).toEqual({ name: 'system/cpu', value: 0.1, step: 1, time });
    expect(first.json.experiment).toMatchObject({ status: 'RUNNING', experiment_id: run.experiment_id });
    expect(last.json).toMatchObject({ experiment: { status: 'SUCCEEDED' }, after: null, retry_after: 0 });
    expect((await findLease(service.records, run.experiment_id, 0))?.watched_until).toBeGreaterThan(0);
  });

  test('begins with its last lines where only these are wanted', async () => {
    const run = await running();
    await print(run, 'one', 'two', 'three');
    await report(run, 1, 2);

    const tail = await read(run, 'tail=2&parts=log');
    const none = await read(run, 'tail=0');
    await print(run, 'four');
    await report(run, 3);

    expect([linesOf(tail), tail.json.points]).toEqual([['two', 'three'], []]);
    expect([linesOf(none), none.json.points]).toEqual([[], []]);
    const next = await read(run, `after=${none.json.after}`);
    expect([linesOf(next), stepsOf(next)]).toEqual([['four'], [3]]);
    expect(linesOf(await read(run, `parts=log&after=${tail.json.after}`))).toEqual(['four']);
  });

  test('comes in answers of any number, none of its lines lost or repeated', async () => {
    const run = await running();
    const all = Array.from({ length: 12_000 }, (_, index) => String(index));
    for (let from = 0; from < all.length; from += 3_000) await print(run, ...all.slice(from, from + 3_000));
    await end(run);

    const found: string[] = [];
    let after: string | null = null;
    do {
      const answer = await read(run, after === null ? '' : `after=${after}`);
      found.push(...linesOf(answer));
      expect(answer.json.retry_after).toBe(0);
      after = answer.json.after;
    } while (after !== null);

    expect(found).toEqual(all);
  });

  test('is asked for again after some seconds on AWS, and more of them while it waits in line', async () => {
    const run = await running();
    const waiting = await running({ status: 'CREATED', status_rank: 0, line_ticket: 1 });

    const seconds = async (of: Experiment) => {
      const first = await read(of);
      return [first, await read(of, `after=${first.json.after}`)].map((one) => one.json.retry_after);
    };

    expect(await seconds(run)).toEqual([4, 4]);
    expect(await seconds(waiting)).toEqual([10, 10]);
  });

  test('refuses a cursor of another experiment, of another node, and of no answer', async () => {
    const [one, other] = [await running(), await running()];
    const { after } = (await read(one)).json;
    const asked = [
      read(other, `after=${after}`),
      read(one, `after=${after}&node=1`),
      read(one, 'after=nothing'),
      read(one, `after=${after}&tail=3`),
      read(one, 'parts=all'),
    ];
    for (const answer of await Promise.all(asked)) {
      expect(answer.status, answer.text).toBe(400);
      expect(answer.json.errors[0].name).toMatch(/^(?:after|parts)/);
    }
  });
});

describe('a request that waits', () => {
  async function logged() {
    const answer = await service.call(create, { path: { project_id }, as: owner, ...json({}) });
    return { project_id, experiment_id: String(answer.json.experiment_id) };
  }
  const log = (path: { project_id: string; experiment_id: string }, step: number) =>
    service.call(logMetrics, { path, as: owner, ...json({ metrics: [{ name: 'loss', value: 1, step }] }) });

  test('is answered with a point that this process stores meanwhile', async () => {
    const path = await logged();
    const first = await read(path, '', parking());
    const { park, waits } = parking(() => log(path, 7));

    const answer = await read(path, `after=${first.json.after}`, { park });

    expect([stepsOf(answer), answer.json.retry_after, waits()]).toEqual([[7], 0, 1]);
    expect(answer.json.experiment.metrics.loss.last).toBe(1);
  });

  test('is answered with what a job stores meanwhile, which is asked for once a second at most', async () => {
    const run = await running();
    const first = await read(run, '', parking());
    const begun = performance.now();
    let answer = first;
    const seconds = () => (performance.now() - begun) / 1000;

    const rounds = await tableRequests(service, readLive, async () => {
      const { park } = parking(() => report(run, 1));
      answer = await read(run, `after=${first.json.after}`, { park });
    });

    expect(stepsOf(answer)).toEqual([1]);
    // Before the wait, at each second of it, and for the answer.
    expect(rounds.length).toBeLessThanOrEqual(12 + 2 * seconds());
  });

  test('waits for nothing once the experiment has ended', async () => {
    const run = await running();
    const first = await read(run, '', parking());
    await end(run);
    const { park, waits } = parking();

    const answer = await read(run, `after=${first.json.after}`, { park });

    expect([answer.json.after, waits()]).toEqual([null, 0]);
  });

  test('ends with its caller’s rights', async () => {
    const path = await logged();
    const guest = await service.user('viewer');
    const first = await read(path, '', { ...parking(), as: guest });
    const { park } = parking(async () => {
      await service.call(deleteToken, { as: guest });
      await log(path, 1);
    });

    const answer = await read(path, `after=${first.json.after}`, { park, as: guest });

    expect(answer.status).toBe(401);
  });

  test('is told when to ask again where it may not wait', async () => {
    const path = await logged();
    const first = await read(path, '', parking());

    const answer = await read(path, `after=${first.json.after}`, { park: async () => false });

    expect([answer.status, answer.json.retry_after]).toEqual([200, 4]);
  });

  test('ends at once when its client is gone or the service ends', async () => {
    const path = await logged();
    const first = await read(path, '', parking());
    const park: Park = async (wait) => {
      await wait(AbortSignal.abort());
      return true;
    };

    const answer = await read(path, `after=${first.json.after}`, { park });

    expect([answer.status, answer.json.points, answer.json.retry_after]).toEqual([200, [], 0]);
  });
});

describe('the experiments of a project that are followed', () => {
  test('come once they have changed, with older ones by their ids', async () => {
    const own = await newProject(service, owner);
    const list = async (query: string, more: Call = {}) =>
      (await service.call(listLive, { path: { project_id: own }, query, as: owner, ...more })).json;
    const made = async (name: string) => {
      const answer = await service.call(create, { path: { project_id: own }, as: owner, ...json({ name }) });
      return { project_id: own, experiment_id: String(answer.json.experiment_id) };
    };
    const [first, second] = [await made('first'), await made('second')];
    for (let count = 0; count < 59; count += 1) await made(String(count));
    const named = `experiments=${first.experiment_id}`;

    const all = await list(named);
    const same = await list(`${named}&after=${all.after}`);
    const changed = await list(`${named}&after=${same.after}`, {
      ...parking(() => service.call(update, { path: first, as: owner, ...json({ tags: { a: 'b' } }) })),
    });
    await service.call(update, { path: first, as: owner, ...json({ status: 'SUCCEEDED' }) });
    await service.call(remove, { path: first, as: owner });
    const after = await list(`${named}&after=${changed.after}`);

    expect(all).toMatchObject({ more: true, others: [{ experiment_id: first.experiment_id }], gone: [] });
    expect(all.experiments.map(({ name }: { name: string }) => name).slice(-2)).toEqual(['0', 'second']);
    expect(second.experiment_id).toBe(all.experiments.at(-1).experiment_id);
    expect(same).toMatchObject({ experiments: null, others: [] });
    expect(changed.others[0].tags).toEqual({ a: 'b' });
    expect(after).toMatchObject({ gone: [first.experiment_id], others: [] });
    expect(all.experiments[0]).not.toHaveProperty('limits');
  });

  test('come once a metric has changed, whatever its name', async () => {
    const own = await newProject(service, owner);
    const list = async (query: string) =>
      (await service.call(listLive, { path: { project_id: own }, query, as: owner })).json;
    const { experiment_id } = (
      await service.call(create, { path: { project_id: own }, as: owner, ...json({}) })
    ).json;
    const log = (name: string, value: number, step: number) =>
      service.call(logMetrics, {
        path: { project_id: own, experiment_id },
        as: owner,
        ...json({ metrics: [{ name, value, step }] }),
      });
    // The project judges by its first metric.
    await log('loss', 1, 0);
    await log('cost', 1, 0);

    const first = await list('');
    await log('cost', 0.5, 1);
    const next = await list(`after=${first.after}`);

    expect(next.experiments?.[0].metrics.cost.last).toBe(0.5);
    expect(next.experiments?.[0].sparkline).toEqual({ metric: 'loss', values: [1] });
  });
});

describe('the points of many experiments', () => {
  const pointsOf = (answer: { json: { points: { experiment_id: string; name: string; step: number }[] } }) =>
    answer.json.points.filter(({ name }) => name === 'loss').map((one) => [one.experiment_id, one.step]);
  const follow = (ids: readonly string[], query = '', more: Call = {}) =>
    service.call(listLive, {
      path: { project_id },
      query: `points=${ids.join()}${query}`,
      as: owner,
      ...more,
    });

  test('come with one request, each once, and those of before not at all', async () => {
    const runs = [await running(), await running(), await running()];
    const ids = runs.map(({ experiment_id }) => experiment_id);
    const [one, two, three] = runs as [Experiment, Experiment, Experiment];
    await report(one, 1, 2);

    const first = await follow(ids);
    await report(one, 3);
    await report(two, 1);
    const second = await follow(ids, `&after=${first.json.after}`);
    const third = await follow(ids, `&after=${second.json.after}`);
    await report(three, 1, 2);
    const fourth = await follow(ids, `&after=${third.json.after}`);

    expect([first, second, third, fourth].map(pointsOf)).toEqual([
      [],
      [
        [one.experiment_id, 3],
        [two.experiment_id, 1],
      ],
      [],
      [
        [three.experiment_id, 1],
        [three.experiment_id, 2],
      ],
    ]);
    expect(second.json).toMatchObject({ experiments: null, others: [], gone: [], retry_after: 2 });
    expect((await findLease(service.records, one.experiment_id, 0))?.watched_until).toBeGreaterThan(0);
  });

  test('are waited for where the service may wait', async () => {
    const run = await running();
    const first = await follow([run.experiment_id]);
    const { park, waits } = parking(() => report(run, 7));

    const next = await follow([run.experiment_id], `&after=${first.json.after}`, { park });

    expect(pointsOf(next)).toEqual([[run.experiment_id, 7]]);
    expect([waits(), next.json.retry_after]).toEqual([1, 0]);
  });

  test('of fifty need few requests to the tables, and only those that have grown are read', async () => {
    const runs = await Promise.all(Array.from({ length: 50 }, () => running()));
    const ids = runs.map(({ experiment_id }) => experiment_id);
    for (const run of runs) await report(run, 1);
    let { after } = (await follow(ids)).json;
    ({ after } = (await follow(ids, `&after=${after}`)).json);
    await report(runs[7] as Experiment, 2);

    let found: unknown;
    const rounds = await tableRequests(service, listLive, async () => {
      found = pointsOf(await follow(ids, `&after=${after}`));
    });

    expect(found).toEqual([[ids[7], 2]]);
    expect(rounds.flat().length).toBeLessThan(15);
  });

  test('are at most 8,000 in an answer, and the others come with the next one', async () => {
    const run = await running();
    const ids = [run.experiment_id];
    let { after } = (await follow(ids)).json;
    const steps = Array.from({ length: 4_500 }, (_, at) => at);
    for (const from of [0, 1_500, 3_000]) await report(run, ...steps.slice(from, from + 1_500));

    const answers: Awaited<ReturnType<typeof follow>>[] = [];
    do {
      answers.push(await follow(ids, `&after=${after}`));
      ({ after } = answers.at(-1)?.json ?? {});
    } while (answers.at(-1)?.json.retry_after === 0);

    expect(answers.map(({ json: { points } }) => points.length)).toEqual([8_000, 1_000]);
    expect(answers.flatMap(pointsOf).map(([, step]) => step)).toEqual(steps);
  });

  test('of an experiment that is not in the project are none', async () => {
    const other = await newProject(service, owner);
    const run = await running();
    const first = await service.call(listLive, {
      path: { project_id: other },
      query: `points=${run.experiment_id}`,
      as: owner,
    });
    await report(run, 1);

    const next = await service.call(listLive, {
      path: { project_id: other },
      query: `points=${run.experiment_id}&after=${first.json.after}`,
      as: owner,
    });

    expect([next.json.points, next.json.gone]).toEqual([[], [run.experiment_id]]);
    expect((await findLease(service.records, run.experiment_id, 0))?.watched_until).toBeUndefined();
  });
});
