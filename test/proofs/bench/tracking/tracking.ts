import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { unsealDatabases } from '../../../../infra/local/start/databases.ts';
import { type Figure, type FigureOptions, figure, rounded } from '../figure.ts';
import type { Bench, Group } from '../group.ts';
import { memoryOfTree } from '../memory-of-tree.ts';
import { startService } from '../service-process.ts';
import { startFasttrackml } from './fasttrackml-server.ts';
import { insertRuns } from './insert-runs.ts';
import { onSqlite, startMlflowOnPostgres, startMlflowOnSqlite } from './mlflow-server.ts';
import { logCurve, type Sizes, type Timed, timeOperations } from './operations.ts';
import {
  type FilledPeer,
  interquartileMean,
  logBatch,
  newExperiment,
  newRun,
  type Peer,
  points,
  search,
} from './peer.ts';

const sizesOf = ({ small }: Pick<Bench, 'small'>): Sizes =>
  small
    ? { history: 10_000, runs: 1_000, curve: 100_000 }
    : { history: 100_000, runs: 10_000, curve: 1_000_000 };
/** How many times the runs the larger search goes through, and how many times its time it may take. */
const larger = 10;
const maxLarger = 6;
const searchTurns = 15;
const curveMilliseconds = 300;
const memoryMegabytes = 512;
const clients = 16;
/** Long enough for the pauses in which the processes of a server wait for the lock of an SQLite database. */
const loggingSeconds = 20;

const shown = (count: number): string => count.toLocaleString('en-US');

interface Rate {
  perSecond: number;
  /** Batches that were not taken. */
  refused: number;
}

/** Batches of a hundred points a second, by sixteen clients with a run each. */
async function batchesPerSecond(peer: Peer, experiment_id: string): Promise<Rate> {
  const runs = await Promise.all(Array.from({ length: clients }, () => newRun(peer, experiment_id)));
  const begun = performance.now();
  let [taken, refused] = [0, 0];
  await Promise.all(
    runs.map(async (run_id) => {
      for (let count = 0; performance.now() < begun + loggingSeconds * 1000; count += 1)
        await logBatch(peer, run_id, points(100, count * 100)).then(
          () => {
            taken += 1;
          },
          // MLflow's own server runs out of connections to its database.
          () => {
            refused += 1;
          },
        );
    }),
  );
  return { perSecond: (taken * 1000) / (performance.now() - begun), refused };
}

const operationRows = (timed: readonly Timed[]): Figure[] =>
  timed.flatMap(({ what, bounds, means: [own, ...others] }) => {
    if (own === undefined) return [];
    if (others.length === 0) return [figure(what, own.milliseconds, 'ms')];
    return others.map(({ name, milliseconds }) => {
      const atMost = bounds[name];
      const bound: FigureOptions = atMost === undefined ? {} : { atMost };
      const remark = `${rounded(own.milliseconds)} : ${rounded(milliseconds)} ms`;
      return figure(`${what}: over ${name}`, own.milliseconds / milliseconds, '×', { ...bound, remark });
    });
  });

async function clientRows(own: Peer, others: readonly Peer[]): Promise<Figure[]> {
  const what = `${clients} clients, batches of 100`;
  const rate = await batchesPerSecond(own, await newExperiment(own, 'clients'));
  if (rate.refused > 0) throw new Error(`the service refused ${rate.refused} batches`);
  const rows: Figure[] = [figure(what, rate.perSecond, '/s')];
  for (const other of others) {
    const { perSecond, refused } = await batchesPerSecond(other, await newExperiment(other, 'clients'));
    const bound: FigureOptions = other.name === onSqlite ? { atLeast: 10 } : {};
    const remark = `${rounded(rate.perSecond)}/s : ${rounded(perSecond)}/s${refused > 0 ? `, ${refused} refused` : ''}`;
    rows.push(figure(`${what}: over ${other.name}`, rate.perSecond / perSecond, '×', { ...bound, remark }));
  }
  return rows;
}

/** A long curve, thinned out to a thousand points: the first read and the mean of those that follow. */
async function curveRows(peer: Peer, base: string, count: number): Promise<Figure[]> {
  const run_id = await newRun(peer, await newExperiment(peer, 'curve'));
  await logCurve(peer, run_id, count);
  const [project = '', experiment = ''] = run_id.split('-');
  const url = `${base}/projects/${project}/experiments/${experiment}/metrics?name=loss&points=1000`;
  const read = async () => {
    const response = await fetch(url, { headers: peer.headers });
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    await response.arrayBuffer();
  };
  const what = `a curve of ${shown(count)} points, thinned out to 1,000`;
  return [
    figure(`${what}: first read`, await interquartileMean(1, read), 'ms'),
    figure(`${what}: mean of 5 more`, await interquartileMean(5, read), 'ms', { atMost: curveMilliseconds }),
  ];
}

const isOnPath = async (program: string): Promise<boolean> => {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = await Promise.allSettled(
    folders.map((folder) => access(join(folder, program), constants.X_OK)),
  );
  return found.some(({ status }) => status === 'fulfilled');
};

/** The other servers that are asked for. */
async function otherPeers(bench: Bench): Promise<FilledPeer[]> {
  const peers: FilledPeer[] = [];
  if (bench.withMlflow) {
    peers.push(await startMlflowOnSqlite(bench));
    if (await isOnPath('initdb')) peers.push(await startMlflowOnPostgres(bench));
  }
  if (bench.withFasttrackml) peers.push(await startFasttrackml(bench));
  return peers;
}

interface OwnPeer {
  peer: Peer;
  base: string;
  many: string;
  larger: string;
}

/** The service, with the runs that are searched in its records. */
async function startOwn({ folder, started, say }: Bench, { runs }: Sizes): Promise<OwnPeer> {
  const data = join(folder, 'data');
  const peerOf = async (service: Awaited<ReturnType<typeof startService>>) => {
    const { token, user_id } = await service.signIn();
    const headers = { Authorization: `Bearer ${token}` };
    const peer: Peer = { name: 'service', url: `${service.url}/mlflow`, headers, pid: service.pid };
    return { peer, user_id };
  };
  const first = await startService(data);
  const before = await peerOf(first);
  const many = await newExperiment(before.peer, 'many');
  const most = await newExperiment(before.peer, 'most');
  await first.stop();
  say(`service: ${shown(runs)} and ${shown(runs * larger)} runs`);
  await unsealDatabases({ within: (name) => join(data, name) });
  await insertRuns(join(data, 'dynamodb/records.db'), before.user_id, [
    { project_id: many, size: runs },
    { project_id: most, size: runs * larger },
  ]);
  const service = await startService(data);
  started.defer(() => service.stop());
  return { peer: (await peerOf(service)).peer, base: service.url, many, larger: most };
}

/** The MLflow API of the service, beside other servers of it where they are asked for. */
export const tracking: Group = {
  name: 'tracking',
  title: "Tracking: the service's MLflow API beside MLflow's own server",

  async measure(bench) {
    const sizes = sizesOf(bench);
    const own = await startOwn(bench, sizes);
    const filled = await otherPeers(bench);
    const others = filled.map(({ peer }) => peer);
    const peers = [own.peer, ...others];
    const manyOf = async (peer: Peer): Promise<string> => {
      if (peer === own.peer) return own.many;
      const experiment_id = await newExperiment(peer, 'many');
      await filled.find((one) => one.peer === peer)?.fill(experiment_id, sizes.runs);
      return experiment_id;
    };
    const timed = await timeOperations(peers, manyOf, sizes, bench);
    const searched = await interquartileMean(searchTurns, () => search(own.peer, own.many));
    const most = await interquartileMean(searchTurns, () => search(own.peer, own.larger));
    const remark = `${rounded(most)} : ${rounded(searched)} ms`;
    const what = `search ${shown(sizes.runs * larger)} runs over ${shown(sizes.runs)}`;
    const figures = [
      ...operationRows(timed),
      figure(what, most / searched, '×', { atMost: maxLarger, remark }),
      ...(await clientRows(own.peer, others)),
      ...(await curveRows(own.peer, own.base, sizes.curve)),
    ];
    for (const { name, pid } of peers) {
      const bound = name === own.peer.name ? { atMost: memoryMegabytes } : {};
      figures.push(figure(`memory of ${name} afterwards`, (await memoryOfTree(pid)).pss, 'MB', bound));
    }
    return figures;
  },
};
