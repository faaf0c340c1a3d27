import { join } from 'node:path';
import { unsealDatabases } from '../../../infra/local/start/databases.ts';
import { type RunningService, startService } from '../bench/service-process.ts';
import { insertRuns } from '../bench/tracking/insert-runs.ts';
import { logCurve } from '../bench/tracking/operations.ts';
import { ask, newExperiment, newRun, type Peer } from '../bench/tracking/peer.ts';
import { Sender, type Shot } from '../load/send.ts';

/** What one account without special rights has filled: a project with many runs, and one with large ones. */
export interface World {
  service: RunningService;
  sender: Sender;
  peer: Peer;
  headers: Readonly<Record<string, string>>;
  user_id: string;
  /** Project with many runs. */
  many: string;
  /** Project with runs that have as many and as long params, tags and metrics as they may. */
  wide: string;
  wideRuns: readonly string[];
  /** Run with a long history. */
  long: string;
  /** Model and sweep of the account. */
  sweep: string;
}

const password = 'password of the gateway proof';
const username = 'ada';

/** Start a service with the account and fill its projects. */
export async function fillWorld(
  folder: string,
  { runs, wideRuns, points }: { runs: number; wideRuns: number; points: number },
  started: AsyncDisposableStack,
  say: (line: string) => void,
): Promise<World> {
  const first = await startService(folder);
  const admin = { Authorization: `Bearer ${(await first.signIn()).token}`, ...ofJson };
  const account = JSON.stringify({ username, password, account_type: 'developer' });
  const asAdmin = new Sender(first.url);
  await asAdmin.require({ what: 'user', method: 'POST', path: '/users/', headers: admin, body: account });
  asAdmin.close();
  const before = await signIn(first.url);
  const many = await newExperiment({ ...before.peer, pid: first.pid }, 'many');
  const wide = await newExperiment({ ...before.peer, pid: first.pid }, 'wide');
  await first.stop();
  say(`${runs} runs`);
  await unsealDatabases({ within: (name) => join(folder, name) });
  await insertRuns(join(folder, 'dynamodb/records.db'), before.user_id, [
    { project_id: many, size: runs, isRead: true },
  ]);

  const service = await startService(folder);
  started.defer(() => service.stop());
  const { peer, sender, headers, user_id } = await signIn(service.url);
  started.defer(() => sender.close());
  const own = { ...peer, pid: service.pid };
  say(`${wideRuns} wide runs`);
  const made: string[] = [];
  for (let index = 0; index < wideRuns; index += 1) made.push(await wideRun(own, wide, index));
  say(`${points} points`);
  const long = await newRun(own, wide);
  await logCurve(own, long, points);
  const send = (shot: Shot) => sender.require({ headers: { ...headers, ...ofJson }, ...shot });
  await send({ what: 'environment', method: 'PUT', path: `/projects/${wide}/environment?${environment}` });
  for (const [name, text] of Object.entries(configurations))
    await sender.send({
      what: name,
      method: 'PUT',
      path: `/projects/${wide}/configs/${name}`,
      headers: { ...headers, 'Content-Type': 'application/octet-stream' },
      body: text,
    });
  const sweep = await send({
    what: 'sweep',
    method: 'POST',
    path: `/projects/${wide}/sweeps`,
    body: JSON.stringify({ config: 'small.yaml', method: 'external', trials: 10_000 }),
  }).then(
    (text): string => JSON.parse(text).sweep_id,
    (error) => {
      say(String(error));
      return '';
    },
  );
  return {
    service,
    sender,
    peer: own,
    headers,
    user_id,
    many,
    wide,
    wideRuns: made.map(idOf),
    long: idOf(long),
    sweep,
  };
}

const ofJson = { 'Content-Type': 'application/json' };

/** An MLflow run id names its project first. */
export const idOf = (run: string): string => run.split('-')[1] ?? '';

const environment = new URLSearchParams({
  entry_point_command: 'true {config}',
  env_type: 'system',
  dependencies: 'none',
}).toString();

async function signIn(url: string) {
  const sender = new Sender(url);
  const text = await sender.require({
    what: 'token',
    method: 'POST',
    path: '/auth/token',
    headers: ofJson,
    body: JSON.stringify({ grant_type: 'password', username, password }),
  });
  const headers = { Authorization: `Bearer ${JSON.parse(text).access_token}` };
  const me = await sender.require({ what: 'me', method: 'GET', path: '/users/me', headers });
  return {
    sender,
    headers,
    user_id: String(JSON.parse(me).user_id),
    peer: { name: 'service', url: `${url}/mlflow`, headers, pid: 0 },
  };
}

/** A run with 40 params and tags of thousands of characters, and 1,000 metrics with names of their own. */
async function wideRun(peer: Peer, experiment_id: string, index: number): Promise<string> {
  const run_id = await newRun(peer, experiment_id);
  const texts = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => ({
      key: `text_${at}`,
      value: 'ab'.repeat(length / 2 - 4) + index,
    }));
  const metrics = Array.from({ length: 500 }, (_, at) => ({
    key: `validation/${index % 20}/some_metric_with_a_long_name_${at}`,
    value: Math.sin(at + index),
    timestamp: 1_700_000_000_000,
    step: at,
  }));
  await ask(peer, 'POST runs/log-batch', { run_id, params: texts(20, 6000), tags: texts(10, 4000) });
  await ask(peer, 'POST runs/log-batch', { run_id, metrics });
  await ask(peer, 'POST runs/update', { run_id, status: 'FINISHED', end_time: Date.now() });
  return run_id;
}

const size = 250_000;
const lines = (line: (at: number) => string, length: number) =>
  Array.from({ length: Math.floor(size / length) }, (_, at) => line(at)).join('');

/** Configurations as large as they may be, each hard for a parser or a layout. */
export const configurations: Readonly<Record<string, string>> = {
  'small.yaml': 'lr: 0.1\nepochs: 3\n',
  'short-lines.yaml': '- 1\n'.repeat(size / 4),
  'nested.yaml': `a: ${'['.repeat(5000)}`,
  'flow.yaml': `a: [${'1,'.repeat(size / 2 - 10)}1]`,
  'maps.yaml': `a: {${Array.from({ length: 20_000 }, (_, at) => `k${at}: ${at}`).join(', ')}}`,
  'keys.yaml': lines((at) => `key_${at}: ${at}\n`, 18),
  'anchors.yaml': `${lines((at) => `k${at}: &a${at} {x: 1}\n`, 24).slice(0, size / 2)}\n`,
  'aliases.yaml': `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]\n`).join('')}`,
  'merges.yaml': `base: &b {${Array.from({ length: 500 }, (_, at) => `k${at}: 1`).join(', ')}}\n${Array.from({ length: 400 }, (_, at) => `m${at}: {<<: *b}\n`).join('')}`,
  'quoted.yaml': `a: "${'\\x41'.repeat(size / 4 - 4)}"\n`,
  'spaces.yaml': `a:${' '.repeat(size - 10)}b\n`,
  'folded.yaml': `a: >\n${'  x\n\n'.repeat(size / 6)}`,
  'comments.yaml': '# x\n'.repeat(size / 4),
  'stages.yaml': `stages:\n${Array.from({ length: 1500 }, (_, at) => `  s${at}: {cmd: x, deps: [o${at ? at - 1 : 0}, o${Math.floor(at / 2)}], outs: [p${at}, o${at + 1}]}\n`).join('')}`,
  'wide-stages.yaml': `stages:\n  s: {cmd: x, deps: [${Array.from({ length: 5000 }, (_, at) => `d${at}`).join(', ')}], outs: [${Array.from({ length: 5000 }, (_, at) => `o${at}`).join(', ')}]}\n`,
  'nested.json': `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`,
  'list.json': `{"a":[${'1,'.repeat(size / 2 - 10)}1]}`,
  'keys.json': `{${Array.from({ length: 14_000 }, (_, at) => `"key_${at}":${at}`).join(',')}}`,
  'keys.toml': lines((at) => `key_${at} = ${at}\n`, 20),
  'dotted.toml': lines((at) => `a.b.c.d.e.f.k${at} = 1\n`, 26),
  'tables.toml': lines((at) => `[[t.u]]\nx = ${at}\n`, 18),
  'nested.toml': `a = ${'['.repeat(400)}${']'.repeat(400)}\n`,
  'deep.toml': `${'a.'.repeat(5000)}b = 1\n`,
};
