import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { DatasetAnswer } from '../../functions/projects/uploads/upload.ts';
import { UserAnswer } from '../../functions/users/account.ts';
import { LogLineAnswer } from '../../shared/experiments/answer-log.ts';
import { ExperimentAnswer } from '../../shared/experiments/experiment-answer.ts';
import { sha256 } from '../integration/projects/upload-file.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { type Ended, runMps, startMps } from '../support/mps.ts';
import { saveWithData } from '../support/onnx/data-beside.ts';
import { writeNpz } from '../support/onnx/write-npz.ts';
import { everySample } from '../support/samples.ts';
import { type Session, testInTerminal } from './mps-in-terminal.ts';
import { testSweeps } from './mps-sweeps.ts';

const execute = promisify(execFile);
const password = 'correct horse battery';
const Listed = z.object({ project_id: z.string() });
const Imported = z.object({ status: z.literal('SUCCEEDED'), project_id: z.string() });
const hello = join(import.meta.dirname, '../examples/hello');

let scratch: string;
let folder: string;
let service: LocalService;

const said: string[] = [];

async function mps(
  args: readonly string[],
  input?: string,
  environment: Record<string, string> = {},
): Promise<Ended> {
  const home = join(scratch, 'home');
  const options = { folder, home, environment };
  const isProcess = input !== undefined || args[0] === '__complete';
  const ended = await (isProcess
    ? startMps(args, { ...options, input: input ?? '' }).ended
    : runMps(args, options));
  said.push(ended.stdout, ended.stderr);
  return ended;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'mps-command-'));
  folder = join(scratch, 'hello');
  await cp(hello, folder, { recursive: true });
  await writeFile(join(folder, 'train.yaml'), 'epochs: 5\nlearning_rate: 0.1\n');
  service = await start();
});

afterAll(async () => {
  await service?.end('SIGTERM');
  await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

async function start(args: readonly string[] = []): Promise<LocalService> {
  const data = ['--data', join(scratch, 'data')];
  const started = await startLocalService([...data, ...args], { ADMIN_PASSWORD: password });
  if (!('url' in started)) throw new Error(started.output);
  return started;
}

const restart: Session['restart'] = async (signal, whileAway) => {
  await service.end(signal);
  await whileAway?.();
  service = await start(['--port', new URL(service.url).port]);
};

const loginFile = () => join(scratch, 'home/.config/mps/logins.json');

// One person's session: each test goes on where the one before it ended.
describe('mps', { shuffle: false }, () => {
  test('says how to sign in, and ends with 4', async () => {
    const unknown = await mps(['whoami'], undefined, { MPS_URL: service.url });
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('mps login') });
    const strange = await mps(['whoami'], undefined, { MPS_URL: service.url, MPS_TOKEN: 'a.b' });
    expect(strange).toMatchObject({ code: 4, stderr: expect.stringContaining('mps login') });
  });

  test('refuses a wrong password, and keeps nothing', async () => {
    const refused = await mps(['login', service.url, '--user', 'admin'], 'wrong\n');
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    await expect(stat(loginFile())).rejects.toThrow('ENOENT');
  });

  test('signs in and keeps a token that others cannot read', async () => {
    const signedIn = await mps(['login', service.url, '--user', 'admin'], `${password}\n`);
    expect(signedIn, signedIn.stderr).toMatchObject({ code: 0 });
    expect((await stat(loginFile())).mode & 0o777).toBe(0o600);
    const { code, stdout } = await mps(['whoami', '--json']);
    expect({ code, ...z.looseObject(UserAnswer.shape).parse(JSON.parse(stdout)) }).toMatchObject({
      code: 0,
      username: 'admin',
      url: service.url,
    });
  });

  test.each([
    { what: 'data', args: ['data', 'push', 'numbers', 'train.yaml'] },
    { what: 'a variable', args: ['env', 'set', '--plain', 'MODE=offline'] },
    { what: 'a configuration', args: ['config', 'push', 'train.yaml'] },
  ])(
    'stores $what before the first training: the project is created, after a word of it',
    async ({ what, args }) => {
      const project = `first-${what.replaceAll(' ', '-')}`;
      const first = await mps([...args, '-p', project]);
      expect(first, first.stderr).toMatchObject({ code: 0 });
      expect(first.stderr).toMatch(new RegExp(`^project ${project} created$`, 'm'));
      const again = await mps([...args, '-p', project]);
      expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining('created') });
      expect((await mps(['ls', '-p', project])).code).toBe(0);
    },
  );

  test('trains a folder that nobody has prepared, and prints its log', async () => {
    const ran = await mps(['run', '-S', 'learning_rate=0.2']);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stdout.split('\n').filter((line) => line.startsWith('epoch'))).toHaveLength(5);
    expect(ran.stderr).toMatch(/^project +hello, created/m);
    expect(ran.stderr).toMatch(/SUCCEEDED in .* s, best val_accuracy 0\.\d+ at step \d$/m);
  });

  test('uploads nothing that is known, runs what is said and ends as the program does', async () => {
    const ran = await mps(['run', '--json', '--', 'sh', '-c', 'echo "two words"; exit 7']);
    expect(ran, ran.stderr).toMatchObject({ code: 7 });
    expect(ran.stderr).toContain('nothing to upload');
    expect(ran.stdout).toContain('two words\n');
    const experiment = JSON.parse(ran.stdout.split('\n').at(-2) ?? '');
    expect(experiment).toMatchObject({ status: 'FAILED', exit_code: 7, config_id: 'train.yaml' });
  });

  test('tells an error once, as the program printed it, and no word of AWS', async () => {
    const ran = await mps([
      'run',
      '-p',
      'crashed',
      '--',
      'python3',
      '-c',
      'raise ValueError("no such thing")',
    ]);
    expect(ran.code).toBe(1);
    const output = ran.stdout + ran.stderr;
    expect(output.match(/ValueError: no such thing/g)).toHaveLength(1);
    expect(output.match(/exit code 1/g)).toHaveLength(1);
    expect(output).not.toContain('AWS');
    expect((await mps(['show', '-p', 'crashed'])).stdout).toMatch(
      /^status {2,}FAILED: ValueError: no such thing\n {4,}The command ended/m,
    );
  });

  test('lists, shows, compares, prints and fetches what was trained', async () => {
    const listed = (await mps(['ls'])).stdout.trimEnd().split('\n');
    expect(listed.map((line) => line.split('\t')[2])).toEqual(['FAILED', 'SUCCEEDED']);
    const id = listed[1]?.split('\t')[0] ?? '';
    // What scripts read is what the definitions promise.
    const shown = ExperimentAnswer.parse(JSON.parse((await mps(['show', id.slice(-6), '--json'])).stdout));
    expect(shown).toMatchObject({ experiment_id: id, params: { learning_rate: '0.2', epochs: '5' } });
    const whole = JSON.parse((await mps(['show', id, '--json'])).stdout);
    expect(whole.system).not.toBeNull();
    expect(shown.system).toEqual(whole.system);
    const compared = JSON.parse((await mps(['compare', '--json'])).stdout);
    expect(compared).toMatchObject({
      params: { learning_rate: ['0.2', '0.1'] },
      metrics: { accuracy: [expect.closeTo(250 / 257), null] },
      attributes: { status: ['SUCCEEDED', 'FAILED'] },
    });
    const sorted = async (...args: string[]) =>
      (await mps(['ls', ...args])).stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[2]);
    expect(await sorted('--sort', '-accuracy')).toEqual(['SUCCEEDED', 'FAILED']);
    expect(await sorted('--sort', 'status')).toEqual(['FAILED', 'SUCCEEDED']);
    expect(await sorted('metrics.accuracy > 0.9')).toEqual(['SUCCEEDED']);
    expect((await mps(['ls', 'metrics.accuracy >'])).stderr).toMatch(/^filter /);
    const table = (await mps(['compare'])).stdout;
    expect(table).toMatch(/^params\.learning_rate\t0\.2\t0\.1$/m);
    expect(table).toMatch(/^best\tval_accuracy 0\.\d+ at step \d\t–$/m);
    const [, asked] =
      (await mps(['ls', 'metrics.accuracy > 0.9', '--sort', '-loss'])).stdout.match(/^(.*SUCCEEDED.*)$/m) ??
      [];
    expect(asked?.split('\t').slice(5)).toEqual([
      expect.stringMatching(/^val_accuracy 0\.\d+ at step \d$/),
      expect.stringMatching(/^0\.\d+$/),
      expect.stringMatching(/^0\.0\d+$/),
      '0.972763',
    ]);
    const facts = (await mps(['show', id])).stdout;
    expect(facts).toMatch(/^best +val_accuracy 0\.\d+ at step \d$/m);
    expect(facts).toMatch(/^metrics\.accuracy +0\.972763 at step 5, 0\.\d+ to 0\.\d+$/m);
    expect((await mps(['show', 'latest'])).stdout).toMatch(/^best +The run reported no metric/m);
    expect((await mps(['logs', id])).stdout).toMatch(/^epoch 5: loss 0\.0\d+ accuracy 0\.9728 /m);
    expect(await mps(['logs', id, '--search', 'EPOCH 5: loss'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+: epoch 5: loss 0\.0\d+ .*\n$/),
      stderr: expect.stringMatching(/^1 line$/m),
    });
    const followed = await mps(['logs', '-f', 'latest', '--json']);
    expect(followed.code).toBe(7);
    const lines = followed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => LogLineAnswer.parse(JSON.parse(line)));
    expect(lines.map(({ message }) => message)).toContain('two words');
    expect(await mps(['pull', id, 'model.json', '--to', 'pulled'])).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(folder, 'pulled/model.json'), 'utf8')).species).toHaveLength(3);
    expect((await mps(['pull', id, '--to', 'pulled'])).stderr).toContain('already there');
    expect(await mps(['pull', id, 'missing'])).toMatchObject({
      code: 1,
      stderr: 'The experiment has no artifact missing.\n',
    });
    await rm(join(folder, 'pulled'), { recursive: true });
  });

  test.runIf(everySample)(
    'trains an experiment again with another value, and returns its id at once',
    async () => {
      const [newest] = (await mps(['ls', '--json'])).stdout.split('\n');
      const { experiment_id } = ExperimentAnswer.parse(JSON.parse(newest ?? ''));
      const rerun = await mps(['rerun', experiment_id.slice(-6), '-S', 'learning_rate=0.3', '-d']);
      expect(rerun, rerun.stderr).toMatchObject({ code: 0 });
      const shown = JSON.parse((await mps(['show', rerun.stdout.trim(), '--json'])).stdout);
      expect(shown).toMatchObject({ rerun_of: experiment_id, params: { learning_rate: '0.3' } });
      await mps(['logs', '-f', 'latest']);
      await mps(['rm', 'latest', '--yes']);
      const compound = await mps(['rerun', '-S', 'a={b: 1}']);
      expect(compound).toMatchObject({ code: 2, stderr: expect.stringContaining('single values') });
    },
  );

  test('stores data, configurations and variables; sends nothing twice', async () => {
    await mkdir(join(scratch, 'numbers/part'), { recursive: true });
    await writeFile(join(scratch, 'numbers/part/a.txt'), '1\n');
    const pushed = await mps(['data', 'push', 'numbers', '../numbers', '--json']);
    const stored = DatasetAnswer.parse(JSON.parse(pushed.stdout));
    expect(stored, pushed.stderr).toMatchObject({ dataset: 'numbers', format: 'tar' });
    expect((await mps(['data', 'push', 'numbers', '../numbers'])).stderr).toContain('nothing to upload');
    expect((await mps(['data', 'ls'])).stdout).toMatch(/^numbers\ttar\t/);

    expect((await mps(['config', 'push', 'train.yaml'])).stderr).toMatch(/^train\.yaml {2}version /);
    expect((await mps(['config', 'pull', 'train.yaml'])).stdout).toContain('epochs: 5\n');
    await mps(['config', 'graph', 'train.yaml', '--to', '../graph.svg']);
    expect(await readFile(join(scratch, 'graph.svg'), 'utf8')).toMatch(/^<svg/);

    expect(await mps(['env', 'set', 'TOKEN=in-the-history'])).toMatchObject({ code: 2 });
    expect(await mps(['env', 'set', 'TOKEN'], 'a long secret\n')).toMatchObject({ code: 0 });
    await mps(['env', 'set', '--plain', 'MODE=offline']);
    expect((await mps(['env'])).stdout).toMatch(/^MODE +offline\nTOKEN +\(secret\)\n$/m);
  });

  test('makes users and tokens, which it hands to files and pipes alone', async () => {
    expect((await mps(['users', 'add', 'ada', '--type', 'viewer'], `${password}\n`)).code).toBe(0);
    expect((await mps(['users', 'type', 'ada', 'developer'])).stderr).toContain('ada is now developer');
    expect((await mps(['users'])).stdout).toMatch(/^ada\tdeveloper\t/m);
    expect(await mps(['users', 'rm', 'ada'])).toMatchObject({ code: 2 });
    expect((await mps(['users', 'rm', 'ada', '--yes'])).code).toBe(0);
    const created = await mps(['tokens', 'create', 'ci', '--days', '1', '--to', '../token']);
    expect(created, created.stderr).toMatchObject({ code: 0, stdout: '' });
    expect((await stat(join(scratch, 'token'))).mode & 0o777).toBe(0o600);
    const [line] = (await mps(['tokens', 'ls'])).stdout.split('\n').filter((one) => one.includes('\tci\t'));
    expect((await mps(['tokens', 'revoke', line?.split('\t')[0] ?? ''])).code).toBe(0);
    const narrow = ['tokens', 'create', 'narrow', '--rights', 'read', '--expires', '8h', '--to', '../narrow'];
    expect((await mps(narrow)).code).toBe(0);
    expect((await mps(['tokens', 'ls'])).stdout).toMatch(/\tnarrow\t.*\tread\t/);
  });

  test('tells an account what it may not do, and leaves nothing half-made', async () => {
    expect((await mps(['users', 'add', 'vic', '--type', 'viewer'], `${password}\n`)).code).toBe(0);
    const home = join(scratch, 'home-of-vic');
    const vic = (args: readonly string[], input?: string) =>
      input === undefined ? runMps(args, { folder, home }) : startMps(args, { folder, home, input }).ended;
    expect((await vic(['login', service.url, '--user', 'vic'], `${password}\n`)).code).toBe(0);
    const rows = async () => (await mps(['ls'])).stdout;
    const before = await rows();
    for (const args of [
      ['run'],
      ['run', '-p', 'of-vic'],
      ['data', 'push', 'numbers', 'train.yaml', '-p', 'of-vic'],
      ['env', 'set', '--plain', 'MODE=online'],
    ]) {
      const refused = await vic(args);
      expect([args, refused.code, refused.stderr]).toEqual([args, 1, expect.stringContaining('mps whoami')]);
    }
    expect(await rows()).toBe(before);
    expect((await mps(['ls', '-p', 'of-vic'])).stderr).toContain('There is no project');
    expect((await vic(['ls'])).code).toBe(0);
    expect((await mps(['users', 'rm', 'vic', '--yes'])).code).toBe(0);
  });

  test.runIf(everySample)('the demo fills the service that mps is signed in to', async () => {
    const { PATH = '' } = process.env;
    const options = { cwd: scratch, env: { PATH, HOME: join(scratch, 'home'), MPS_CHECKOUT: scratch } };
    const demo = (...args: string[]) =>
      execute(
        process.execPath,
        [join(import.meta.dirname, '../../infra/tools/demo/main.ts'), ...args],
        options,
      );
    const { stdout } = await demo('--many', '--count', '2');
    expect(stdout).toContain(`Service at ${service.url}\n`);
    expect(stdout).toContain(`${service.url}/console#/projects/`);
    expect((await mps(['ls', '-p', '2 experiments', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(2);
    expect((await demo('--many', '--count', '2', '--url', service.url)).stdout).toMatch(/were there +2$/m);
    await expect(demo('--many', '--url', 'http://127.0.0.1:9')).rejects.toMatchObject({
      stderr: expect.stringContaining('Start the service with "npm start"'),
    });
  });

  test.runIf(everySample)(
    'a model takes the sets that its run left beside it, and others later',
    async () => {
      const left = join(scratch, 'left');
      await mkdir(left);
      await cp(join(import.meta.dirname, '../fixtures/onnx/digits.onnx'), join(left, 'digits.onnx'));
      const image = { type: 'float' as const, dims: [1], values: new Float32Array(1) };
      for (const name of ['digits-test.npz', 'more.npz']) await writeNpz(join(left, name), { image });
      const here = (args: readonly string[]) => runMps(args, { folder: left, home: join(scratch, 'home') });
      const ran = await here(['run', '--', 'bash', '-c', 'cp digits* "$OUTPUT_DIR"']);
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      const pushed = await here(['models', 'push', 'left', 'digits.onnx', '--from', 'latest']);
      expect(pushed, pushed.stderr).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('evaluation  digits-test.npz'),
      });
      const bare = await here([
        'models',
        'push',
        'bare',
        'digits.onnx',
        '--from',
        'latest',
        '--no-sets',
        '--json',
      ]);
      expect(JSON.parse(bare.stdout)).toMatchObject({ has_calibration: false, has_evaluation: false });
      const later = await here(['models', 'sets', 'bare', '--calibration', 'more.npz']);
      expect(later, later.stderr).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('bare  with calibration'),
      });
      const taken = await here([
        'models',
        'sets',
        'bare',
        '--evaluation',
        'digits-test.npz',
        '--from',
        'latest',
      ]);
      expect(taken.stderr).toContain('bare  with calibration and evaluation');
      expect(await here(['models', 'sets', 'bare'])).toMatchObject({ code: 2 });
    },
  );

  test.runIf(everySample)(
    'a quantization leaves the model beside it as it was, and both can be opened',
    async () => {
      await mkdir(join(scratch, 'onnx'));
      saveWithData(join(scratch, 'onnx'));
      const file = (name: string) => join(scratch, 'onnx', name);
      const digest = async () => sha256(await readFile(file('model.onnx.data')));
      const before = await digest();
      const pushed = await mps([
        'models',
        'push',
        'beside',
        '../onnx/model.onnx',
        '--data',
        '../onnx/model.onnx.data',
      ]);
      expect(pushed, pushed.stderr).toMatchObject({ code: 0 });
      const quantize = ['quantize', 'beside', '-s', 'dynamic', '--precision', '8', '--to'];
      expect(await mps([...quantize, '../onnx/model.onnx'])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/model\.onnx, \S+model\.onnx\.data exist already; nothing was started/),
      });
      const ran = await mps([...quantize, '../onnx/small.onnx']);
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      expect(await digest()).toBe(before);
      expect((await readdir(join(scratch, 'onnx'))).sort()).toEqual([
        'mark',
        'model.onnx',
        'model.onnx.data',
        'small.onnx',
        'small.onnx.data',
      ]);
      for (const name of ['model.onnx', 'small.onnx'])
        await (await InferenceSession.create(file(name))).release();
      expect(
        (await mps(['receipt', '--to', '../onnx/small.onnx'])).stderr.match(/already there/g),
      ).toHaveLength(2);
      await writeFile(file('small.onnx'), 'my own');
      expect(await mps(['receipt', '--to', '../onnx/small.onnx'])).toMatchObject({ code: 2 });
      expect(await readFile(file('small.onnx'), 'utf8')).toBe('my own');
      expect(await mps(['receipt', '--to', '../onnx/small.onnx', '--force'])).toMatchObject({ code: 0 });
      await (await InferenceSession.create(file('small.onnx'))).release();
    },
  );

  test.runIf(everySample)('completes commands, flags and names that the service knows', async () => {
    const completed = async (...words: string[]) =>
      (await mps(['__complete', ...words])).stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]);
    expect(await completed('re')).toEqual(['rerun', 'receipt']);
    expect(await completed('run', '--det')).toEqual(['--detach']);
    expect(await completed('run', '--dataset', '')).toEqual(['numbers']);
    expect(await completed('config', 'pull', 'tr')).toEqual(['train.yaml']);
    expect(await completed('ls', '-p', 'he')).toEqual(['hello']);
    expect(await completed('prune', '--strategy', 'structured')).toContain('structured_l2');
    expect((await mps(['completion', 'bash'])).stdout).toContain('complete -F _mps mps');
  });

  test('deletes only what it was told to', async () => {
    expect(await mps(['rm', 'latest'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await mps(['rm', 'latest', '--yes'])).toMatchObject({ code: 0 });
    expect((await mps(['ls', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  test('Ctrl-C before the submission ends it at once, though the service does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const environment = { MPS_URL: `http://127.0.0.1:${port}`, MPS_TOKEN: 'a.b' };
    const early = startMps(['run'], { folder, home: join(scratch, 'home'), environment });
    await once(silent, 'connection');
    early.child.kill('SIGINT');
    const ended = await early.ended;
    silent.close();
    expect(ended).toMatchObject({ code: 130, stderr: 'Interrupted; nothing was submitted.\n' });
  });

  test.runIf(everySample)(
    'Ctrl-C as soon as it is submitted leaves the training there, and says so',
    async () => {
      const home = join(scratch, 'home');
      const early = startMps(['run', '--', 'sleep', '600'], { folder, home });
      await early.printed('submitted');
      early.child.kill('SIGINT');
      expect(await early.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('mps logs -f') });
      await mps(['cancel', 'latest']);
    },
  );

  testSweeps(() => ({ scratch, folder, service, restart }), mps);

  testInTerminal(() => ({ scratch, folder, service, restart }));

  test('tells what the service refuses, with the parameter', async () => {
    const refused = await mps(['run', '--nodes', '1000']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/nodes must be/) });
    expect(refused.stderr).not.toContain('Request id');
    expect((await mps(['run', '--nodes', '1000', '--verbose'])).stderr).toContain('Request id: ');
  });

  test('refuses a size that no deployment offers before anything is sent', async () => {
    const refused = await mps(['run', '--vcpus', '3']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/vcpus must be one of/) });
    expect(refused.stderr).not.toContain('project ');
  });

  test('refuses an mps.yaml with unknown keys before anything is sent', async () => {
    await writeFile(join(folder, 'mps.yaml'), 'comand: python train.py\n');
    const refused = await mps(['run']);
    await rm(join(folder, 'mps.yaml'));
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('comand: unknown') });
    expect(refused.stderr).not.toContain('project ');
  });

  // It leaves a second project, whose name says that it is imported.
  test.runIf(everySample)(
    'makes an archive of a project, and a project of it that makes the same archive',
    async () => {
      const exported = await mps(['export', '--to', 'first.zip']);
      expect(exported, exported.stderr).toMatchObject({ code: 0 });
      const imported = await mps(['import', 'first.zip', '--json']);
      expect(imported, imported.stderr).toMatchObject({ code: 0 });
      const { project_id } = Imported.parse(JSON.parse(imported.stdout));
      const again = await mps(['export', '--to', 'second.zip', '-p', project_id]);
      expect(again, again.stderr).toMatchObject({ code: 0 });
      const [first, second] = await Promise.all(
        ['first.zip', 'second.zip'].map((name) => readFile(join(folder, name))),
      );
      expect(first?.subarray(0, 2).toString()).toBe('PK');
      expect(second?.equals(first ?? Buffer.of())).toBe(true);
      const [own, other] = [await mps(['ls', '-p', project_id]), await mps(['ls'])];
      const statuses = ({ stdout }: Ended) => stdout.match(/\b(?:SUCCEEDED|FAILED)\b/g);
      expect(statuses(own)).toContain('SUCCEEDED');
      expect(statuses(own)).toEqual(statuses(other));
      // The folder's name still leads to the first one.
      expect(other).toMatchObject({ code: 0 });
      const broken = await readFile(join(folder, 'first.zip'));
      await writeFile(join(folder, 'broken.zip'), broken.subarray(0, -1));
      const refused = await mps(['import', 'broken.zip']);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).not.toBe('');
    },
  );

  test('puts what another tracker recorded into the project of an ID', async () => {
    const created = await mps(['projects', '--json']);
    const projects = created.stdout.trim().split('\n');
    const { project_id } = Listed.parse(JSON.parse(projects[0] ?? ''));
    const source = join(import.meta.dirname, '../fixtures/import/tensorboard');
    const ended = await mps(['import', '--from', 'tensorboard', source, '-p', project_id]);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const { stdout } = await mps(['ls', "name IN ('first', 'second')", '-p', project_id, '--json']);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    const after = await mps(['projects', '--json']);
    expect(after.stdout.trim().split('\n')).toHaveLength(projects.length);
  });

  test('says that no service answers, and ends with 3', async () => {
    const environment = { MPS_URL: 'http://127.0.0.1:1', MPS_TOKEN: 'a.b' };
    expect(await mps(['whoami'], undefined, environment)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('npm start'),
    });
  });

  test('never shows a token', async () => {
    const [{ token }] = JSON.parse(await readFile(loginFile(), 'utf8'));
    expect(token.length).toBeGreaterThan(40);
    for (const text of said) expect(text.includes(token)).toBe(false);
  });

  test('signs out: the token ends', async () => {
    const [{ token }] = JSON.parse(await readFile(loginFile(), 'utf8'));
    expect(await mps(['logout'])).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(loginFile(), 'utf8'))).toEqual([]);
    const after = await mps(['whoami'], undefined, { MPS_URL: service.url, MPS_TOKEN: token });
    expect(after.code).toBe(4);
  });
});
