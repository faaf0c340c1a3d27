import { join } from 'node:path';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { type Counted, startCountingProxy } from './counting-proxy.ts';
import { type Figure, figure } from './figure.ts';
import { filledProject, filledSizes } from './filled-project.ts';
import type { Bench, Group } from './group.ts';
import { startService } from './service-process.ts';

/** The worker's ticks also ask the engine, so the count of an operation is the lowest of so many turns. */
const turns = 25;

interface Operation {
  what: string;
  method: 'GET' | 'POST';
  path: string;
  body?(turn: number): object;
}

interface Bounds {
  reads: number;
  writes: number;
}

async function prepare({ folder, started, say }: Bench) {
  const engine = await startDynamoDb(join(folder, 'records.db'));
  started.defer(() => engine.close());
  const { url, counted } = await startCountingProxy(engine.url, started);
  const service = await startService(join(folder, 'data'), { DYNAMODB_ENDPOINT: url });
  started.defer(() => service.stop());
  const session = await service.signIn();
  const { token } = session;
  const send = async ({ method, path, body }: Operation, turn: number): Promise<string> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body(turn)) };
    const response = await fetch(`${service.url}${path}`, { method, headers, ...sent });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const lowest = async (operation: Operation): Promise<Counted> => {
    const found: Counted = { reads: Infinity, writes: Infinity, bytes: Infinity };
    for (let turn = 0; turn < turns; turn += 1) {
      Object.assign(counted, { reads: 0, writes: 0, bytes: 0 });
      await send(operation, turn);
      for (const name of ['reads', 'writes', 'bytes'] as const)
        found[name] = Math.min(found[name], counted[name]);
    }
    return found;
  };
  const projectOf = (size: number): Promise<string> => {
    say(`a project with ${size} of each`);
    return filledProject(session, engine.url, size);
  };
  const [few, many] = [await projectOf(filledSizes.few), await projectOf(filledSizes.many)];
  return { send, lowest, few, many };
}

const mlflow = '/mlflow/api/2.0/mlflow';
const time = 1_700_000_000_000;

/** Operations in a project, and the most requests to the tables that each may take. */
const operationsIn = (project_id: string, run_id: string): readonly (readonly [Operation, Bounds])[] => {
  const [, experiment_id] = run_id.split('-');
  const log = (turn: number) => ({ key: 'loss', value: 0.5, timestamp: time + turn, step: turn });
  return [
    [
      { what: 'GET one project', method: 'GET', path: `/projects/${project_id}` },
      { reads: 3, writes: 0 },
    ],
    [
      {
        what: 'page of 100 experiments',
        method: 'GET',
        path: `/projects/${project_id}/experiments?limit=100`,
      },
      { reads: 7, writes: 0 },
    ],
    [
      {
        what: 'create a run (MLflow)',
        method: 'POST',
        path: `${mlflow}/runs/create`,
        body: (turn) => ({ experiment_id: project_id, start_time: time + turn }),
      },
      { reads: 1, writes: 1 },
    ],
    [
      { what: 'get a run (MLflow)', method: 'GET', path: `${mlflow}/runs/get?run_id=${run_id}` },
      { reads: 1, writes: 0 },
    ],
    [
      {
        what: 'log a metric (MLflow)',
        method: 'POST',
        path: `${mlflow}/runs/log-metric`,
        body: (turn) => ({ run_id, ...log(turn) }),
      },
      { reads: 1, writes: 1 },
    ],
    [
      {
        what: 'log a metric',
        method: 'POST',
        path: `/projects/${project_id}/experiments/${experiment_id}/metrics`,
        body: (turn) => ({ metrics: [{ name: 'accuracy', value: 0.5, step: turn }] }),
      },
      { reads: 1, writes: 1 },
    ],
  ];
};

/**
 * Requests to the tables of each operation, and how they grow. Counts do not depend on the machine or its load, so
 * `.ci/run` runs this group.
 */
export const counts: Group = {
  name: 'counts',
  title: `Counts: requests to the tables, and their growth from ${filledSizes.few} to ${filledSizes.many} waiting trainings, trials and messages`,

  async measure(bench) {
    const { send, lowest, few, many } = await prepare(bench);
    const found: Figure[] = [];
    const measured = await Promise.all(
      [few, many].map(async (project_id) => {
        const create = { what: '', method: 'POST', path: `${mlflow}/runs/create` } as const;
        const made = await send({ ...create, body: () => ({ experiment_id: project_id }) }, 0);
        return operationsIn(project_id, JSON.parse(made).run.info.run_id);
      }),
    );
    const [ofFew = [], ofMany = []] = measured;
    for (const [index, [operation, bounds]] of ofMany.entries()) {
      bench.say(operation.what);
      const large = await lowest(operation);
      const small = await lowest(ofFew[index]?.[0] ?? operation);
      const { what } = operation;
      found.push(
        figure(`${what}: reads`, large.reads, '', { atMost: bounds.reads }),
        figure(`${what}: writes`, large.writes, '', { atMost: bounds.writes }),
        figure(`${what}: bytes from the tables, of many over few`, large.bytes / small.bytes, '×', {
          ...(what.startsWith('page') ? {} : { atMost: 1.5 }),
          remark: `${large.bytes} : ${small.bytes}`,
        }),
      );
    }
    return found;
  },
};
