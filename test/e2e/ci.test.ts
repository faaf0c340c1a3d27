import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { LocalService } from '../support/local-service.ts';
import { runMps, startMps } from '../support/mps.ts';
import { everySample } from '../support/samples.ts';
import { signedInService } from './signed-in-service.ts';

const root = join(import.meta.dirname, '../..');

/** Reports the accuracy of its configuration, with a little noise of its seed; waits if it is told to. */
const program = `
import json, os, time
config = dict(line.split(': ') for line in open(os.environ['CONFIG_PATH']).read().splitlines())
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    for step in range(1, 6):
        value = (float(config['accuracy']) + int(config['seed']) / 1e3) * step / 5
        print(json.dumps({'accuracy': value, 'step': step}), file=metrics)
print('reported', flush=True)
time.sleep(float(config.get('sleep', 0)))
`;
const file = `run: { command: python train.py, seed: seed }
repeats: 2
project: gated
gates: ["accuracy >= base - 0.5%"]
`;

let scratch: string;
let folder: string;
let service: LocalService;

const write = (path: string, text: string) => writeFile(join(folder, path), text);
const git = async (...args: string[]) => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
  await promisify(execFile)('git', [...identity, ...args], { cwd: folder });
};

describe.runIf(everySample)('mps ci', { shuffle: false }, () => {
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'mps-ci-'));
    folder = join(scratch, 'gated');
    await mkdir(join(folder, '.mps'), { recursive: true });
    service = await signedInService(join(scratch, 'data'), scratch);
  });
  afterAll(async () => {
    await service?.end('SIGTERM');
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test('trains, compares with main, and cancels the training of a cancelled job', async () => {
    const options = { folder, home: scratch };
    const commit = async (accuracy: number, more = '') => {
      await write('train.yaml', `accuracy: ${accuracy}\nseed: 0${more}\n`);
      await git('add', '-A');
      await git('commit', '-qm', `${accuracy}`);
    };
    await git('init', '-q');
    await write('train.py', program);
    await write('.mps/ci.yaml', file);
    await write('.gitignore', 'mps-ci.*\n');

    await commit(0.9);
    const first = await runMps(['ci'], options);
    await git('checkout', '-qb', 'worse');
    await commit(0.5);
    const worse = await runMps(['ci', '--json'], options);
    await write('.mps/ci.yaml', file.replace('repeats: 2', 'repeats: 1'));
    await commit(0.9, '\nsleep: 600');
    const started = startMps(['ci'], options);
    await started.printed('reported');
    started.child.kill('SIGTERM');
    const cancelled = await started.ended;

    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('NOT COMPARED') });
    expect(worse.code, worse.stderr).toBe(4);
    expect(JSON.parse(worse.stdout.slice(worse.stdout.indexOf('{"report_version"')))).toMatchObject({
      ...{ verdict: 'failed', project: 'gated' },
      gates: [{ verdict: 'failed', measured: '0.5015 (mean of 2)' }],
    });
    const markdown = await readFile(join(folder, 'mps-ci.md'), 'utf8');
    expect(markdown).toContain('1 of 1 gate fails');
    // Curves of the base and of the head, on one scale.
    expect(markdown).toMatch(/▁▃▅▇█ .*\| ▁[▁▂][▂▃][▃▄][▄▅] /);
    expect(await readFile(join(folder, 'mps-ci.svg'), 'utf8')).toContain('<polyline');
    expect(cancelled).toMatchObject({ code: 130, stderr: expect.stringMatching(/Cancelled \w{26}\./) });
  });

  /** Run the check of the action with what its inputs are, as the runner does. */
  const action = async (variables: Record<string, string>) => {
    const { runs } = parse(await readFile(join(root, 'action/action.yml'), 'utf8'));
    const { PATH = '' } = process.env;
    const inputs = { GITHUB_ACTION_PATH: join(root, 'action'), GATES: 'gates.yaml', SERVICE: '' };
    const shell = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', runs.steps[1].run];
    const env = { PATH, HOME: scratch, ...inputs, ...variables };
    return promisify(execFile)('bash', shell, { cwd: folder, env }).catch((error) => error);
  };

  test('the action checks a model by the command of its repository', async () => {
    folder = join(scratch, 'model');
    await mkdir(folder);
    await copyFile(join(root, 'test/fixtures/onnx/digits.onnx'), join(folder, 'digits.onnx'));
    await write('gates.yaml', 'model: digits.onnx\nseconds: 0.1\ngates: ["bytes <= 1MB", "bytes <= 900"]\n');
    const failed = await action({});
    expect(failed, failed.stderr).toMatchObject({ code: 4 });
    expect(failed.stdout).toMatch(/PASSED {2}bytes <= 1MB.*\nFAILED {2}bytes <= 900/);
  });

  test('the action takes the command of the service that its input or MPS_URL names', async () => {
    folder = join(scratch, 'gated');
    const report = JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'));
    const id = report.head.link.split('/').at(-1);
    await write('gates.yaml', `experiment: ${id}\nproject: gated\ngates: ["accuracy >= 0.4"]\n`);
    const { url } = service;
    const { stdout: token } = await runMps(['tokens', 'create', 'ci'], { folder, home: scratch });
    const variables = { MPS_TOKEN: token.trim(), npm_config_registry: 'http://127.0.0.1:9' };

    const named = await action({ ...variables, SERVICE: `${url}/`, MPS_URL: 'http://127.0.0.1:9' });
    const usual = await action({ ...variables, MPS_URL: url });

    for (const checked of [named, usual])
      expect(checked.stdout, checked.stderr).toContain('PASSED  accuracy >= 0.4');
  });

  test('a gate on a metric that the training does not report fails, also without a base', async () => {
    folder = join(scratch, 'gated');
    const report = JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'));
    const id = report.head.link.split('/').at(-1);
    const judged = `experiment: ${id}\nproject: gated\nagainst: no-such-branch\n`;
    await write('gates.yaml', `${judged}gates: ["acuracy >= base", "accuracy >= base"]\n`);

    const { code, stdout } = await runMps(['ci', 'gates.yaml'], { folder, home: scratch });

    expect(code, stdout).toBe(4);
    expect(stdout).toMatch(
      /UNMEASURED {2}acuracy >= base.*The training reported accuracy\.\nNO BASE {2}accuracy/,
    );
  });

  test('the report of a training that fails leads to it', async () => {
    folder = join(scratch, 'gated');
    await write('train.py', 'raise ValueError("no data")\n');
    await git('commit', '-qam', 'broken');

    const { code } = await runMps(['ci'], { folder, home: scratch });

    expect(code).toBe(1);
    expect(JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'))).toMatchObject({
      ...{ verdict: 'error', base: null },
      head: { link: expect.stringMatching(/console#\/projects\/\w{26}\/experiments\/\w{26}$/) },
      notes: expect.arrayContaining([expect.stringContaining('ValueError: no data')]),
    });
  });
});
