import { rounded } from '../figure.ts';
import type { Bench } from '../group.ts';
import {
  ask,
  interquartileMean,
  logBatch,
  newExperiment,
  newRun,
  type Peer,
  points,
  search,
} from './peer.ts';
import { PythonClient } from './python-client.ts';

const often = { warming: 40, times: 41 };

export interface Sizes {
  history: number;
  runs: number;
  curve: number;
}

/** The records of a server that the operations use, and who asks for them. */
interface Prepared {
  peer: Peer & { client: PythonClient };
  experiment_id: string;
  run_id: string;
  /** A run with a long history. */
  long: string;
  /** An experiment with many runs. */
  many: string;
}

/** Points of one metric, logged in whole batches. */
export async function logCurve(peer: Peer, run_id: string, count: number): Promise<void> {
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

interface Operation {
  what: string;
  /** Turns before the ones that are timed. */
  warming: number;
  times: number;
  act(one: Prepared, turn: number): Promise<unknown>;
  /** Upper bounds of the service over peers. */
  bounds: Readonly<Record<string, number>>;
}

const shown = (count: number): string => count.toLocaleString('en-US');

const operations = (sizes: Sizes): readonly Operation[] => [
  {
    what: 'create a run',
    ...often,
    act: ({ peer, experiment_id }) => newRun(peer, experiment_id),
    bounds: { 'MLflow on SQLite': 0.12, FastTrackML: 3 },
  },
  {
    what: 'get a run',
    ...often,
    act: ({ peer, run_id }) => ask(peer, `GET runs/get?run_id=${run_id}`),
    bounds: { 'MLflow on SQLite': 0.12, FastTrackML: 3 },
  },
  {
    what: 'log 100 points',
    ...often,
    act: ({ peer, run_id }, turn) => logBatch(peer, run_id, points(100, turn * 100)),
    bounds: { 'MLflow on SQLite': 0.12 },
  },
  {
    what: 'log 1,000 points',
    ...often,
    act: ({ peer, run_id }, turn) => logBatch(peer, run_id, points(1000, 100_000 + turn * 1000)),
    bounds: { 'MLflow on SQLite': 0.1, FastTrackML: 1 },
  },
  {
    what: `history of ${shown(sizes.history)} points`,
    warming: 10,
    times: 5,
    act: ({ peer, long }) => readHistory(peer, long),
    bounds: { 'MLflow on SQLite': 0.1, FastTrackML: 1 },
  },
  {
    what: `search ${shown(sizes.runs)} runs, page of 100`,
    ...often,
    act: ({ peer, many }) => search(peer, many),
    bounds: { 'MLflow on PostgreSQL': 0.1, FastTrackML: 1 },
  },
];

/** Times of an operation in milliseconds, by peer: the means of the middle half of its turns. */
export interface Timed extends Pick<Operation, 'what' | 'bounds'> {
  means: readonly { name: string; milliseconds: number }[];
}

/**
 * Time each operation. The peers take turns at each, so that they share the load of the machine. The connection to a peer
 * may have ended while others had their turn, so it is warmed up each time, as a client does that records a training.
 * Linux acknowledges what comes first on a connection at once, and later only with what is sent, or after 40 ms. A server
 * that leaves Nagle's algorithm on, as MLflow's does with several workers, then waits that long between the two parts of
 * an answer.
 * @param manyOf an experiment with the runs that are searched
 */
export async function timeOperations(
  peers: readonly Peer[],
  manyOf: (peer: Peer) => Promise<string>,
  sizes: Sizes,
  bench: Pick<Bench, 'say' | 'started'>,
): Promise<Timed[]> {
  const prepared: Prepared[] = [];
  for (const peer of peers) {
    const experiment_id = await newExperiment(peer, 'operations');
    const [run_id, long] = [await newRun(peer, experiment_id), await newRun(peer, experiment_id)];
    bench.say(`${peer.name}: a history of ${shown(sizes.history)} points`);
    await logCurve(peer, long, sizes.history);
    const asked = { ...peer, client: PythonClient.start(bench) };
    prepared.push({ peer: asked, experiment_id, run_id, long, many: await manyOf(peer) });
  }
  const found: Timed[] = [];
  for (const { what, warming, times, act, bounds } of operations(sizes)) {
    const all: { name: string; milliseconds: number }[] = [];
    for (const one of prepared) {
      for (let turn = 0; turn < warming; turn += 1) await act(one, turn);
      const milliseconds = await interquartileMean(
        times,
        (turn) => act(one, warming + turn),
        () => one.peer.client.spent,
      );
      all.push({ name: one.peer.name, milliseconds });
    }
    bench.say(
      `${what}: ${all.map(({ name, milliseconds }) => `${name} ${rounded(milliseconds)} ms`).join(', ')}`,
    );
    found.push({ what, bounds, means: all });
  }
  return found;
}
