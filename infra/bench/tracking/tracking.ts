import { join } from 'node:path';
import { type Figure, type FigureOptions, figure, rounded } from '../figure.ts';
import type { Bench, Group } from '../group.ts';
import { memoryOfTree } from '../memory-of-tree.ts';
import { startService } from '../service-process.ts';
import { startFasttrackml } from './fasttrackml-server.ts';
import { fillMlflow, startMlflow } from './mlflow-server.ts';
import { ask, best, logBatch, newExperiment, newRun, type Peer, points } from './peer.ts';

const runsSearched = 10_000;
const historyPoints = 100_000;
const curvePoints = 1_000_000;
const curveMilliseconds = 300;
const clients = 16;
const loggingSeconds = 4;
const turns = 15;

/** Points of one metric, logged in whole batches. */
async function logCurve(peer: Peer, run_id: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const metrics = Array.from({ length: 1000 }, (_, index) => ({
      key: 'loss',
      value: Math.exp(-(from + index) / count),
      timestamp: 1_700_000_000_000 + from + index,
      step: from + index,
    }));
    await logBatch(peer, run_id, metrics);
  }
}

/** The whole history of a metric, page by page. */
async function readHistory(peer: Peer, run_id: string): Promise<void> {
  let token: string | undefined;
  do {
    const query = new URLSearchParams({ run_id, metric_key: 'loss', ...(token && { page_token: token }) });
    const page: { next_page_token?: string } = JSON.parse(
      await ask(peer, `GET metrics/get-history?${query}`),
    );
    token = page.next_page_token;
  } while (token);
}

/** Batches of a hundred points a second, by sixteen clients with a run each. */
async function batchesPerSecond(peer: Peer, experiment_id: string): Promise<number> {
  const runs = await Promise.all(Array.from({ length: clients }, () => newRun(peer, experiment_id)));
  const end = performance.now() + loggingSeconds * 1000;
  const counts = await Promise.all(
    runs.map(async (run_id) => {
      let count = 0;
      for (; performance.now() < end; count += 1) await logBatch(peer, run_id, points(100, count * 100));
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / loggingSeconds;
}

async function record(peer: Peer, experiment_id: string, index: number): Promise<void> {
  const run_id = await newRun(peer, experiment_id);
  const at = 1_700_000_000_000 + index;
  await ask(peer, 'POST runs/log-batch', {
    run_id,
    metrics: ['accuracy', 'loss'].map((key) => ({ key, value: Math.sin(index), timestamp: at, step: 0 })),
    params: ['lr', 'depth', 'seed'].map((key) => ({ key, value: String(index % 7) })),
  });
  await ask(peer, 'POST runs/update', { run_id, status: 'FINISHED', end_time: at });
}

async function recordMany(peer: Peer, experiment_id: string, count: number): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await record(peer, experiment_id, next++);
  };
  await Promise.all(Array.from({ length: clients }, work));
}

const search = (peer: Peer, experiment_id: string): Promise<string> =>
  ask(peer, 'POST runs/search', {
    experiment_ids: [experiment_id],
    filter: "metrics.accuracy > 0.5 AND params.lr = '3'",
    order_by: ['metrics.loss DESC'],
    max_results: 100,
  });

const bounds = {
  'create a run': 0.12,
  'get a run': 0.12,
  'log 100 points': 0.12,
  'log 1,000 points': 0.1,
  'history of 100,000 points': 0.1,
  'search 10,000 runs, page of 100': undefined,
} as const;
type What = keyof typeof bounds;

/** Best times of each operation, in milliseconds. The peers take turns at each, so that they share the load of the machine. */
async function measureAll(
  peers: readonly Peer[],
  fill: (peer: Peer, experiment_id: string) => Promise<void>,
  say: Bench['say'],
): Promise<Map<What, number[]>> {
  const prepared = [];
  for (const peer of peers) {
    const experiment_id = await newExperiment(peer, 'operations');
    const [run_id, long] = [await newRun(peer, experiment_id), await newRun(peer, experiment_id)];
    say(`${peer.name}: a history of ${historyPoints} points`);
    await logCurve(peer, long, historyPoints);
    const many = await newExperiment(peer, 'many');
    say(`${peer.name}: ${runsSearched} runs`);
    await fill(peer, many);
    prepared.push({ peer, experiment_id, run_id, long, many });
  }
  type Prepared = (typeof prepared)[number];
  const operations: Record<What, { times: number; act(one: Prepared, turn: number): Promise<unknown> }> = {
    'create a run': { times: turns, act: ({ peer, experiment_id }) => newRun(peer, experiment_id) },
    'get a run': { times: turns, act: ({ peer, run_id }) => ask(peer, `GET runs/get?run_id=${run_id}`) },
    'log 100 points': {
      times: turns,
      act: ({ peer, run_id }, turn) => logBatch(peer, run_id, points(100, turn * 100)),
    },
    'log 1,000 points': {
      times: turns,
      act: ({ peer, run_id }, turn) => logBatch(peer, run_id, points(1000, 100_000 + turn * 1000)),
    },
    'history of 100,000 points': { times: 2, act: ({ peer, long }) => readHistory(peer, long) },
    'search 10,000 runs, page of 100': { times: 4, act: ({ peer, many }) => search(peer, many) },
  };
  const found = new Map<What, number[]>();
  for (const [what, { times, act }] of Object.entries(operations) as [What, (typeof operations)[What]][]) {
    say(what);
    const all: number[] = [];
    for (const one of prepared) all.push(await best(times, (turn) => act(one, turn)));
    found.set(what, all);
  }
  return found;
}

/** Upper bounds of the service over the peers besides MLflow. */
const otherBounds: Readonly<Record<string, Partial<Record<What, number>>>> = {
  FastTrackML: {
    'log 1,000 points': 1,
    'history of 100,000 points': 1,
    'search 10,000 runs, page of 100': 1,
  },
};

function rows(found: ReadonlyMap<What, readonly number[]>, others: readonly Peer[]): Figure[] {
  return [...found].flatMap(([what, [own = 0, ...theirs]]) => {
    if (theirs.length === 0) return [figure(what, own, 'ms')];
    return theirs.map((other, index) => {
      const { name = '' } = others[index] ?? {};
      const atMost = name === 'MLflow' ? bounds[what] : otherBounds[name]?.[what];
      const bound: FigureOptions = atMost === undefined ? {} : { atMost };
      const remark = `${rounded(own)} : ${rounded(other)} ms`;
      return figure(`${what}: over ${name}`, own / other, '×', { ...bound, remark });
    });
  });
}

/** A curve of a million points, thinned out to a thousand: the first read and the best. */
async function curve(peer: Peer, base: string): Promise<Figure[]> {
  const experiment_id = await newExperiment(peer, 'curve');
  const run_id = await newRun(peer, experiment_id);
  await logCurve(peer, run_id, curvePoints);
  const [project = '', experiment = ''] = run_id.split('-');
  const url = `${base}/projects/${project}/experiments/${experiment}/metrics?name=loss&points=1000`;
  const read = async () => {
    const response = await fetch(url, { headers: peer.headers });
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    await response.arrayBuffer();
  };
  const what = 'a curve of a million points, thinned out to 1,000';
  return [
    figure(`${what}: first read`, await best(1, read), 'ms', { atMost: curveMilliseconds }),
    figure(`${what}: best of 5`, await best(5, read), 'ms', { atMost: curveMilliseconds }),
  ];
}

interface FilledPeer {
  peer: Peer;
  /** Records the runs that are searched, where its API would take too long. */
  fill?(experiment_id: string): void | Promise<void>;
}

/** The other servers that are asked for. */
async function otherPeers(bench: Bench): Promise<FilledPeer[]> {
  const peers: FilledPeer[] = [];
  if (bench.withMlflow) {
    const { peer, database } = await startMlflow(bench);
    peers.push({ peer, fill: (id) => fillMlflow(database, id, runsSearched) });
  }
  if (bench.withFasttrackml) peers.push({ peer: await startFasttrackml(bench) });
  return peers;
}

/** The MLflow API of the service, beside MLflow's own server where that is asked for. */
export const tracking: Group = {
  name: 'tracking',
  title: "Tracking: the service's MLflow API beside MLflow's own server",

  async measure(bench) {
    const service = await startService(join(bench.folder, 'data'));
    bench.started.defer(() => service.stop());
    const { token } = await service.signIn();
    const headers = { Authorization: `Bearer ${token}` };
    const own: Peer = { name: 'service', url: `${service.url}/mlflow`, headers, pid: service.pid };
    const filled = await otherPeers(bench);
    const others = filled.map(({ peer }) => peer);
    const peers = [own, ...others];
    const fill = async (peer: Peer, experiment_id: string) => {
      const inDatabase = filled.find((one) => one.peer === peer)?.fill;
      await (inDatabase ?? ((id) => recordMany(peer, id, runsSearched)))(experiment_id);
    };
    const figures = rows(await measureAll(peers, fill, bench.say), others);
    const rates: number[] = [];
    for (const peer of peers) rates.push(await batchesPerSecond(peer, await newExperiment(peer, 'clients')));
    const [rate = 0, ...theirs] = rates;
    const what = `${clients} clients, batches of 100`;
    figures.push(
      ...(theirs.length === 0 ? [figure(what, rate, '/s')] : []),
      ...theirs.map((other, index) => {
        const name = others[index]?.name ?? '';
        const bound: FigureOptions = name === 'MLflow' ? { atLeast: 10 } : {};
        const remark = `${rounded(rate)}/s : ${rounded(other)}/s`;
        return figure(`${what}: over ${name}`, rate / other, '×', { ...bound, remark });
      }),
      ...(await curve(own, service.url)),
    );
    for (const { name, pid } of peers)
      figures.push(
        figure(
          `memory of ${name} afterwards`,
          (await memoryOfTree(pid)).pss,
          'MB',
          name === 'service' ? { atMost: 512 } : {},
        ),
      );
    return figures;
  },
};
