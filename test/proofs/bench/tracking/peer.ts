import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

export interface HttpRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface Answer {
  status: number;
  text: string;
}

export interface HttpClient {
  /** Send a request by a connection that is kept, and read the answer whole. */
  send(request: HttpRequest): Promise<Answer>;
}

const agent = new Agent({ keepAlive: true });

/** Node's own client: half the work of `fetch`, with which the servers share the processors. */
const nodeClient: HttpClient = {
  async send({ url, method, headers, body = '' }) {
    const length = { 'Content-Length': Buffer.byteLength(body) };
    const sent = request(url, { method, agent, headers: { ...headers, ...length } }).end(body);
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) throw new Error(`${url} does not answer`);
    return { status: response.statusCode ?? 0, text: await readText(response) };
  },
};

/** A tracking server that is measured: its MLflow API. */
export interface Peer {
  name: string;
  /** Below which `api/2.0/mlflow/…` lies. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Of the parent of all its processes. */
  pid: number;
  /** Node's own without another. */
  client?: HttpClient;
}

export interface FilledPeer {
  peer: Peer;
  /** Write the runs that are searched, since its API would take too long. */
  fill(experiment_id: string, size: number): void | Promise<void>;
}

const Created = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) });
const Experiment = z.object({ experiment_id: z.string() });

/** Call the API. @throws Error for an answer that is no success */
export async function ask(peer: Peer, call: string, body?: object): Promise<string> {
  const [method = '', path = ''] = call.split(' ');
  const { status, text } = await (peer.client ?? nodeClient).send({
    method,
    url: `${peer.url}/api/2.0/mlflow/${path}`,
    headers: { ...peer.headers, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (status !== 200) throw new Error(`${peer.name} answers ${call} with ${status}: ${text.slice(0, 200)}`);
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
 * A median would be chance where about half of the answers wait 40 ms for an acknowledgement.
 * @param clock milliseconds; that of a client leaves out what the bench itself does
 */
export async function interquartileMean(
  times: number,
  act: (turn: number) => Promise<unknown>,
  clock: () => number = () => performance.now(),
): Promise<number> {
  const all: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const begun = clock();
    await act(turn);
    all.push(clock() - begun);
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
