import { beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { foldCatalogue } from '../../../shared/data/experiments/fold-catalogue.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import { type TestService, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { json } from '../users/body.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

/** What each request waits for, one after the other, once the function knows its caller and project. */
describe('the requests to the tables', () => {
  let service: TestService;
  let caller: MlflowCaller;
  let run: Awaited<ReturnType<typeof newRun>>;
  beforeAll(async () => {
    service = await testService();
    caller = mlflowCaller(service, await service.user('developer'));
    run = await newRun(caller);
  });

  const requests = async (act: () => Promise<{ status: number }>) => {
    holdRecency();
    await caller.get('runs/get', { run_id: run.run_id });
    const statuses: number[] = [];
    const rounds = await tableRequests(service, endpoint, async () => {
      statuses.push((await act()).status);
    });
    expect(statuses).toEqual([200]);
    return rounds;
  };

  test('of a read of a run are one', async () => {
    const { run_id } = run;
    expect(await requests(() => caller.get('runs/get', { run_id }))).toEqual([['BatchGet records']]);
  });

  test('of a batch are one read and one write', async () => {
    const { run_id } = run;
    const log = (step: number) =>
      caller.post('runs/log-batch', {
        run_id,
        metrics: [{ key: 'accuracy', value: 1, timestamp: 1_700_000_000_000, step }],
      });
    expect((await log(0)).status).toBe(200);
    expect(await requests(() => log(1))).toEqual([['BatchGet records'], ['TransactWrite records']]);
  });

  test('of a batch by a member are no more', async () => {
    const { run_id, experiment_id } = run;
    const member = mlflowCaller(service, await service.user('developer'));
    const path = { project_id: experiment_id, username: member.user.user.username };
    const made = { ...json({ role: 'developer' }), path, as: caller.user };
    expect((await service.call(putMember, made)).status).toBe(200);
    const log = (step: number) =>
      member.post('runs/log-batch', { run_id, metrics: [{ key: 'recall', value: 1, timestamp: 1, step }] });
    expect((await log(1)).status).toBe(200);
    expect(await requests(() => log(2))).toEqual([['BatchGet records'], ['TransactWrite records']]);
  });

  test('of points by our own API are no more', async () => {
    holdRecency();
    const [project_id = '', experiment_id = ''] = run.run_id.split('-');
    const log = (step: number) =>
      service.call(logMetrics, {
        ...json({ metrics: [{ name: 'loss', value: 1, step }] }),
        path: { project_id, experiment_id },
        as: caller.user,
      });
    expect((await log(3)).status).toBe(200);
    const rounds = await tableRequests(service, logMetrics, () => log(4));
    expect(rounds).toEqual([['BatchGet records'], ['TransactWrite records']]);
  });

  test('of a new run are one read and one write', async () => {
    const { experiment_id } = run;
    // One in 32 also folds the catalogue.
    const rounds = await requests(() => caller.post('runs/create', { experiment_id, start_time: 1 }));
    expect(rounds.slice(0, 2)).toEqual([['BatchGet records'], ['TransactWrite records']]);
  });

  test('of a search are two: the marks of changed runs before the manifest of the others', async () => {
    const { experiment_id, run_id } = await newRun(caller);
    await caller.post('runs/update', { run_id, status: 'FINISHED' });
    // The first fold marks what a release without a catalogue has recorded.
    await foldCatalogue(service.records, experiment_id, { milliseconds: 60_000, least: 1 });
    const search = () => caller.post('runs/search', { experiment_ids: [experiment_id] });
    expect((await search()).json.runs).toHaveLength(1);
    // A busy machine: more time passes between any two lines than a request may compute at a stretch.
    let milliseconds = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (milliseconds += 10));

    const rounds = await requests(search);
    clock.mockRestore();

    expect(rounds.map((round) => round.toSorted())).toEqual([
      ['Get records', 'Query records'],
      ['Get records'],
    ]);
  });
});
