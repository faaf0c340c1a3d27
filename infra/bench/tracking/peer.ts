import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

/** A tracking server that is measured: its MLflow API. */
export interface Peer {
  name: string;
  /** Below which `api/2.0/mlflow/…` lies. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Of the parent of all its processes. */
  pid: number;
}

export interface FilledPeer {
  peer: Peer;
  /** Write the runs that are searched, since its API would take too long. */
  fill(experiment_id: string, size: number): void | Promise<void>;
}

const Created = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) });
const Experiment = z.object({ experiment_id: z.string() });

/** Call the API by a connection that is kept, and read the answer whole. @throws Error for an answer that is no success */
export async function ask(peer: Peer, call: string, body?: object): Promise<string> {
  const [method = '', path = ''] = call.split(' ');
  const response = await fetch(`${peer.url}/api/2.0/mlflow/${path}`, {
    method,
    headers: { ...peer.headers, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${peer.name} answers ${call} with ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

export async function newExperiment(peer: Peer, name: string): Promise<string> {
  return Experiment.parse(JSON.parse(await ask(peer, 'POST experiments/create', { name }))).experiment_id;
}

export async function newRun(peer: Peer, experiment_id: string): Promise<string> {
  const text = await ask(peer, 'POST runs/create', { experiment_id, start_time: Date.now() });
  return Created.parse(JSON.parse(text)).run.info.run_id;
}

/** Points of a hundred metrics, each with the steps from `from` on. */
export const points = (count: number, from: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    key: `metric${index % 100}`,
    value: Math.sin(index + from),
    timestamp: 1_700_000_000_000 + from + index,
    step: from + index,
  }));

export const logBatch = (peer: Peer, run_id: string, metrics: readonly object[]): Promise<string> =>
  ask(peer, 'POST runs/log-batch', { run_id, metrics });

export const search = (peer: Peer, experiment_id: string): Promise<string> =>
  ask(peer, 'POST runs/search', {
    experiment_ids: [experiment_id],
    filter: "metrics.accuracy > 0.5 AND params.lr = '3'",
    order_by: ['metrics.loss DESC'],
    max_results: 100,
  });

/**
 * Milliseconds of an action: the interquartile mean of some turns, which leaves out the fastest and the slowest quarter.
 * A median would be chance where an answer waits 40 ms every other time, as those of MLflow's own server do.
 */
export async function interquartileMean(
  times: number,
  act: (turn: number) => Promise<unknown>,
): Promise<number> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const begun = performance.now();
    await act(turn);
    all.push(performance.now() - begun);
  }
  const quarter = Math.floor(times / 4);
  const middle = all.sort((one, other) => one - other).slice(quarter, times - quarter);
  return middle.reduce((sum, one) => sum + one, 0) / middle.length;
}

/** Wait until a server answers. @throws Error after five minutes */
export async function untilUp(url: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if ((await fetch(url).catch(() => undefined))?.ok) return;
    await sleep(500);
  }
  throw new Error(`${url} does not answer`);
}
