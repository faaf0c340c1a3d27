import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { runMps } from '../../support/mps.ts';
import { descendants } from '../bench/descendants.ts';
import { rowOf, squareProducts } from './square-products.ts';

// `npm run proof -- serving-memory`: bodies of 2 GB, a killed service, ten models that share memory for three of them while
// their processes are killed, and one of 1 GB.

const usage = `Usage: npm run proof -- serving-memory [-- --seconds <n>]
  eight clients ask ten models of 100 MiB, which together need more than twice the memory of the function, while a
  process of a model is killed every three seconds; before, bodies of 2 GB are sent, and the service is killed while
  clients ask; then a model of 1 GiB answers
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
  /** Return status and tensor of an answer, or its text. */
  ask(model: string): Promise<{ status: number; tensor: string; text: string }>;
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
      const text = answer.ok ? '' : bytes.toString('utf8');
      return { status: answer.status, tensor: bytes.subarray(length).toString('base64'), text };
    },
  };
}

/** Return the pids of the processes that hold models of a service. */
async function sessionsOf(service: LocalService): Promise<number[]> {
  return (await descendants(service.pid)).filter((pid) => {
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
      const { status, tensor, text } = await ask(model);
      if (status !== 200) throw new CommandError(`${model} answered ${status}: ${text}`);
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

/** Send a body of 2 GB, with its length said or not. Return the status, and by how many MiB the service grew meanwhile. */
async function flood(url: URL, pid: number, isSaid: boolean): Promise<[status: number, mebibytes: number]> {
  const size = 2e9;
  const chunk = Buffer.alloc(2 ** 20);
  const before = await mebibytesOf([pid]);
  let peak = before;
  const watch = setInterval(async () => {
    peak = Math.max(peak, await mebibytesOf([pid]));
  }, 50);
  const status = await new Promise<number>((resolve) => {
    const length = isSaid ? { 'Content-Length': String(size) } : {};
    const sent = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...length } });
    let isOver = false;
    const end = (found: number) => {
      isOver = true;
      resolve(found);
      sent.destroy();
    };
    sent.once('response', ({ statusCode = 0 }) => end(statusCode));
    sent.once('error', () => end(0));
    let left = size;
    const write = () => {
      while (!isOver && left > 0) {
        left -= chunk.length;
        if (!sent.write(chunk)) return;
      }
      if (!isOver) sent.end();
    };
    sent.on('drain', write);
    write();
  });
  clearInterval(watch);
  return [status, peak - before];
}

/** Flood the service, then kill it while eight clients ask. Return whether all was well. */
async function attack(scratch: string): Promise<boolean> {
  const { url, service, serve, ask } = await start(scratch, limit + 1);
  try {
    await serve('attacked', squareProducts(8));
    const right = await ask('attacked');
    const address = new URL(`${url}/v2/models/attacked/infer`);
    const floods = [await flood(address, service.pid, true), await flood(address, service.pid, false)];
    process.stdout.write(
      `2 GB: ${floods.map(([status, grown]) => `${status}, ${grown} MiB more`).join('; without a length: ')}\n`,
    );
    let answers = 0;
    let wrong = 0;
    let isUp = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (isUp) {
        // A request that the kill cuts off fails. Any that ends must be whole.
        const answer = await ask('attacked').catch(() => undefined);
        if (answer === undefined) return;
        answers += 1;
        if (answer.tensor !== right.tensor) wrong += 1;
      }
    });
    await sleep(2_000);
    await service.end('SIGKILL');
    isUp = false;
    await Promise.all(clients);
    process.stdout.write(`kill -9 of the service: ${answers} answers, ${wrong} of them wrong\n`);
    return wrong === 0 && answers > 0 && floods.every(([status, grown]) => status === 413 && grown < 64);
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
    const isWhole = await attack(scratch);
    const isShared = await share(scratch, Number(values.seconds ?? 30));
    await large(scratch);
    return isWhole && isShared ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

await runMain(main);
