import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { runMps } from '../../support/mps.ts';
import { rowOf, squareProducts } from './square-products.ts';

// `npm run proof -- serving-memory`: ten models share memory for three of them while their processes are killed, then one
// of 1 GB answers.

const usage = `Usage: npm run proof -- serving-memory [-- --seconds <n>]
  eight clients ask ten models of 100 MiB, which together need more than twice the memory of the function, while a
  process of a model is killed every three seconds; then a model of 1 GiB answers
  --seconds  of the first part; default 30`;

const password = 'a long sentence nobody guesses';
const count = 10;
const limit = 1500;
const killMilliseconds = 3_000;

interface Served {
  url: string;
  service: LocalService;
  /** Push a model and serve it. Return the seconds of each. */
  serve(model: string, bytes: Uint8Array): Promise<[push: number, serve: number]>;
  /** Return status and tensor of an answer. */
  ask(model: string): Promise<{ status: number; tensor: string }>;
}

/** Start the service with so many MiB for models. */
async function start(scratch: string, mebibytes: number): Promise<Served> {
  const service = await startLocalService(['--data', join(scratch, `data-${mebibytes}`)], {
    ADMIN_PASSWORD: password,
    LIMIT_SERVING_MEMORY: String(mebibytes),
  });
  if (!('url' in service)) throw new CommandError(service.output);
  const { url } = service;
  const grant = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const signedIn = await fetch(`${url}/auth/token`, { method: 'POST', body: grant });
  const { access_token }: { access_token: string } = JSON.parse(await signedIn.text());
  const { headers, body } = rowOf(0.5);
  const mps = async (...args: string[]) => {
    const begun = performance.now();
    const environment = { MPS_URL: url, MPS_TOKEN: access_token };
    const ended = await runMps(args, { folder: scratch, home: scratch, environment });
    if (ended.code !== 0) throw new CommandError(`mps ${args.join(' ')}: ${ended.stderr}`);
    return (performance.now() - begun) / 1000;
  };
  return {
    url,
    service,
    async serve(model, bytes) {
      const path = join(scratch, `${model}.onnx`);
      await writeFile(path, bytes);
      const seconds: [number, number] = [await mps('models', 'push', model, path), await mps('serve', model)];
      await rm(path);
      return seconds;
    },
    async ask(model) {
      const answer = await fetch(`${url}/v2/models/${model}/infer`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${access_token}` },
        body,
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const length = Number(answer.headers.get('inference-header-content-length') ?? 0);
      return { status: answer.status, tensor: bytes.subarray(length).toString('base64') };
    },
  };
}

/** Return the pids of the processes that hold models of a service. */
async function sessionsOf(service: LocalService): Promise<number[]> {
  const all = await thisHost.listProcesses();
  const tree = new Set([service.pid]);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const { pid, ppid } of all) if (tree.has(ppid)) tree.add(pid);
  }
  return [...tree].filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('session-program');
    } catch {
      return false;
    }
  });
}

const mebibytesOf = async (pids: readonly number[]): Promise<number> =>
  Math.round((await thisHost.proportionalBytes(pids)) / 2 ** 20);

/** Ask ten models in turn. Return whether all was well. */
async function share(scratch: string, seconds: number): Promise<boolean> {
  const { service, serve, ask } = await start(scratch, limit);
  try {
    const models = Array.from({ length: count }, (_, index) => `model-${index}`);
    const right = new Map<string, string>();
    for (const [index, model] of models.entries()) {
      await serve(model, squareProducts(100, index));
      const { status, tensor } = await ask(model);
      if (status !== 200) throw new CommandError(`${model} answered ${status}`);
      right.set(model, tensor);
      process.stdout.write(`${model} answers\n`);
    }
    const end = performance.now() + seconds * 1000;
    const statuses = new Map<number, number>();
    let wrong = 0;
    let kills = 0;
    let peak = 0;
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let turn = client; performance.now() < end; turn += 3) {
        const model = models[turn % count] ?? '';
        const { status, tensor } = await ask(model);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200 && tensor !== right.get(model)) wrong += 1;
      }
    });
    const watch = async () => {
      for (; performance.now() < end; await sleep(100))
        peak = Math.max(peak, await mebibytesOf(await sessionsOf(service)));
    };
    const kill = async () => {
      for (; performance.now() < end; await sleep(killMilliseconds)) {
        const [pid] = await sessionsOf(service);
        if (pid === undefined) continue;
        process.kill(pid, 'SIGKILL');
        kills += 1;
      }
    };
    await Promise.all([...clients, watch(), kill()]);
    const told = [...statuses].map(([status, times]) => `${status} × ${times}`).join(', ');
    process.stdout.write(
      `${count} models for ${limit} MiB: answers ${told}; ${wrong} wrong; ${kills} kills; at most ${peak} MiB in processes of models\n`,
    );
    return wrong === 0 && peak <= limit && [...statuses.keys()].every((status) => status === 200);
  } finally {
    await service.end('SIGTERM');
  }
}

/** Serve a model of 1 GiB. */
async function large(scratch: string): Promise<void> {
  const { service, serve, ask } = await start(scratch, 3008);
  try {
    const [pushed, served] = await serve('large', squareProducts(1024));
    const milliseconds: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const begun = performance.now();
      const { status } = await ask('large');
      if (status !== 200) throw new CommandError(`the large model answered ${status}`);
      milliseconds.push(Math.round(performance.now() - begun));
    }
    const memory = await mebibytesOf(await sessionsOf(service));
    process.stdout.write(
      `1 GiB: pushed in ${pushed.toFixed(1)} s, served in ${served.toFixed(1)} s; answers in ${milliseconds.join(', ')} ms; ${memory} MiB\n`,
    );
  } finally {
    await service.end('SIGTERM');
  }
}

async function main(): Promise<number> {
  const { values } = readFlags(usage, { options: { seconds: { type: 'string' } } });
  const scratch = await mkdtemp(join(tmpdir(), 'serving-memory-'));
  try {
    const isGood = await share(scratch, Number(values.seconds ?? 30));
    await large(scratch);
    return isGood ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

await runMain(main);
