import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { build } from 'esbuild';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { warningsIn } from './warnings.ts';

// `npm run proof -- clients`: makes clients of /openapi.json of a service that runs, by the generators that most people use,
// without a warning, and goes the README's five minutes with each of them.

const usage = `Usage: npm run proof -- clients
  makes clients of /openapi.json by three generators, and goes the five minutes with each (PyPI, Maven Central)`;

const run = promisify(execFile);
const here = import.meta.dirname;
const example = join(here, 'pretended');
const password = 'correct horse battery';
const generator = 'org.openapitools:openapi-generator-cli:7.25.0';

const expected = {
  config: ['train.yaml', 1],
  status: 'SUCCEEDED',
  logged: [0.5, 0.75, 0.875, 0.938, 0.969].map(
    (value, epoch) => `epoch ${epoch}: accuracy ${value.toFixed(3)}`,
  ),
  metrics: [0.5, 0.75, 0.875, 0.9375, 0.96875],
  artifact: 'the trained model\n',
  masked: { project_name: 'Hello' },
  problem: [404, '/docs#problem-not-found'],
};

function requirePrograms(): void {
  const missing = ['python3', 'java', 'mvn', 'tar'].filter(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  if (missing.length === 0) return;
  throw new CommandError(
    `Missing: ${missing.join(', ')}. The clients are made by programs from PyPI (Python 3) and Maven Central (Java 11 or newer, Maven).`,
  );
}

/** Runs a generator. @throws CommandError with what it warned of */
async function generate(program: string, args: readonly string[], env = process.env): Promise<void> {
  const { stdout, stderr } = await run(program, args, { env, maxBuffer: 64e6 }).catch((error) => error);
  const warnings = warningsIn(`${stdout}\n${stderr}`);
  if (warnings.length > 0)
    throw new CommandError(`${program} ${args.join(' ')} warns:\n${warnings.join('\n')}`);
}

interface Bench {
  folder: string;
  /** Of the Python programs. */
  bin: string;
  jar: string;
  service: LocalService;
}

async function program({ folder, service }: Bench, file: string, args: readonly string[], path: string) {
  const archive = join(folder, 'hello.tar.gz');
  await run('tar', ['czf', archive, '-C', example, 'train.py']);
  const env = {
    ...process.env,
    ...{ SERVICE_URL: service.url, ADMIN_PASSWORD: password, EXAMPLE: example, ARCHIVE: archive },
    PYTHONPATH: `${path}:${here}`,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return JSON.parse((await run(file, args, { env })).stdout) as unknown;
}

const clients: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  async 'openapi-python-client'(bench) {
    const out = join(bench.folder, 'openapi-python-client');
    const args = ['generate', '--url', `${bench.service.url}/openapi.json`, '--output-path', out];
    const env = { ...process.env, PATH: `${bench.bin}:${process.env['PATH']}` };
    await generate(join(bench.bin, 'openapi-python-client'), args, env);
    return program(bench, join(bench.bin, 'python'), [join(here, 'openapi-python-client.py')], out);
  },
  async 'openapi-generator python'(bench) {
    const out = join(bench.folder, 'python');
    const input = `${bench.service.url}/openapi.json`;
    await generate('java', ['-jar', bench.jar, 'generate', '-i', input, '-g', 'python', '-o', out]);
    return program(bench, join(bench.bin, 'python'), [join(here, 'openapi-generator.py')], out);
  },
  async 'openapi-generator typescript-fetch'(bench) {
    const out = join(bench.folder, 'typescript');
    const input = `${bench.service.url}/openapi.json`;
    await generate('java', [
      '-jar',
      bench.jar,
      'generate',
      '-i',
      input,
      '-g',
      'typescript-fetch',
      '-o',
      join(out, 'client'),
    ]);
    await cp(join(here, 'typescript-fetch.txt'), join(out, 'program.ts'));
    await writeFile(join(out, 'package.json'), JSON.stringify({ type: 'module' }));
    const outfile = join(out, 'program.js');
    // The client imports without extensions, as bundlers resolve them.
    await build({
      entryPoints: [join(out, 'program.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    return program(bench, process.execPath, [outfile], '');
  },
};

async function prepare(folder: string): Promise<Omit<Bench, 'service'>> {
  const venv = join(folder, 'venv');
  await run('python3', ['-m', 'venv', venv]);
  const bin = join(venv, 'bin');
  await run(join(bin, 'pip'), ['install', '--quiet', '--requirement', join(here, 'requirements.txt')]);
  await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${generator}`, `-DoutputDirectory=${folder}`]);
  const jar = (await readdir(folder)).find((name) => name.endsWith('.jar'));
  if (jar === undefined) throw new CommandError(`Maven found no ${generator}.`);
  return { folder, bin, jar: join(folder, jar) };
}

async function testClients(): Promise<number> {
  readFlags(usage, { options: {} });
  requirePrograms();
  const folder = await mkdtemp(join(tmpdir(), 'mps-clients-'));
  let service: LocalService | undefined;
  try {
    const tools = await prepare(folder);
    const started = await startLocalService(['--data', join(folder, 'data')], { ADMIN_PASSWORD: password });
    if (!('url' in started)) throw new CommandError(started.output);
    service = started;
    let failed = 0;
    for (const [name, use] of Object.entries(clients)) {
      const seen = await use({ ...tools, service }).catch((error: unknown) => error);
      const isRight = isDeepStrictEqual(seen, expected);
      if (!isRight) failed += 1;
      process.stdout.write(`${isRight ? 'ok' : 'FAILED'}  ${name}\n`);
      if (!isRight)
        process.stdout.write(`${seen instanceof Error ? seen.message : JSON.stringify(seen, null, 2)}\n`);
    }
    process.stdout.write(`${Object.keys(clients).length - failed} passed, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await service?.end('SIGTERM');
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

await runMain(testClients);
