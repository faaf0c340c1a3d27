import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { wheelName } from '../../functions/service/wheel-name.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { everySample } from '../support/samples.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const password = 'correct horse battery';

let scratch: string;
let folder: string;
let service: LocalService;
let token: string;
let environment: Record<string, string>;

/** The first block of a language below a heading of the command's README. */
async function recipe(heading: string, language: string): Promise<string> {
  const text = await readFile(join(root, 'cli/README.md'), 'utf8');
  const section = text.slice(text.indexOf(`### ${heading}\n`));
  const [, block] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section) ?? [];
  if (block === undefined) throw new Error(`the README has no recipe "${heading}"`);
  return block;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'recipes-'));
  folder = join(scratch, 'hello');
  await cp(join(root, 'test/examples/hello'), folder, { recursive: true });
  await writeFile(join(folder, 'train.yaml'), 'epochs: 5\n');
  const started = await startLocalService(['--data', join(scratch, 'data')], { ADMIN_PASSWORD: password });
  if (!('url' in started)) throw new Error(started.output);
  service = started;
  const body = JSON.stringify({ grant_type: 'password', username: 'admin', password });
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${service.url}/auth/token`, { method: 'POST', headers, body });
  token = z.object({ access_token: z.string() }).parse(await answer.json()).access_token;
  // The guide's program is begun as its reader would, also on a machine that names it python3 alone.
  const bin = join(scratch, 'prefix/bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'python'), '#!/bin/sh\nexec python3 "$@"\n', { mode: 0o755 });
  const { PATH = '' } = process.env;
  environment = {
    PATH: `${bin}:${PATH}`,
    HOME: scratch,
    npm_config_prefix: join(scratch, 'prefix'),
    npm_config_update_notifier: 'false',
  };
});
afterAll(async () => {
  await service?.end('SIGTERM');
  await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

const hasJq = spawnSync('jq', ['--version']).status === 0;

describe.runIf(everySample)('the recipes of the README, as they stand there', { shuffle: false }, () => {
  test('the steps of the GitHub Action train, judge and fetch', async () => {
    const env = { ...environment, MPS_URL: service.url, MPS_TOKEN: token };
    const steps = [...(await recipe('GitHub Actions', 'yaml')).matchAll(/^ +- run: (.*)$/gm)];
    expect(steps.map(([, line = '']) => line.split(' ')[0])).toEqual(['npm', 'mps', 'test', 'mps']);
    for (const [, line = ''] of steps) {
      // The runner's own shell, and its own value of the expression. A machine without jq judges by Python.
      const command = line.replaceAll('${{ github.event.repository.name }}', 'recipe');
      const judged = hasJq
        ? command
        : command.replace("jq '.metrics.accuracy.last > 0.9'", `python3 -c '${judge}'`);
      await execute('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', judged], { cwd: folder, env });
    }
    expect(JSON.parse(await readFile(join(folder, 'model/model.json'), 'utf8')).species).toHaveLength(3);
    expect(await readFile(join(folder, 'log.txt'), 'utf8')).not.toContain(token);
  });

  test('the cell of the notebook trains thrice and reads what became of it', async () => {
    const cell = (await recipe('Notebooks', 'python')).replace('https://…', service.url);
    const typed = 'import getpass, sys\ngetpass.getpass = lambda prompt: sys.stdin.readline().strip()\n';
    const shown =
      '\nimport json\nprint(json.dumps([run.params["learning_rate"] for run in runs if "learning_rate" in run.params]))\n';
    const wheel = join(scratch, wheelName);
    await writeFile(wheel, Buffer.from(await (await fetch(`${service.url}/cli/${wheelName}`)).arrayBuffer()));
    const env = { ...environment, PYTHONPATH: wheel };
    const running = execute('python3', ['-c', typed + cell + shown], { cwd: folder, env });
    running.child.stdin?.end(`${token}\n`);
    const rates = z.array(z.string()).parse(JSON.parse((await running).stdout));
    expect(rates.toSorted()).toEqual(['0.1', '0.2', '0.4']);
  });
});

/** The examples of a part of the guide, as the service serves them. */
async function guideExamples(part: string): Promise<string[]> {
  const page = await (await fetch(`${service.url}/docs`)).text();
  const [, section = ''] = new RegExp(`<section id="${part}"([^]*?)</section>`).exec(page) ?? [];
  return [...section.matchAll(/<pre[^>]*><code[^>]*>(.*?)<\/code>/gs)].map(([, text = '']) =>
    text
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
      .replace(/^BASE=.*$/m, `BASE=${service.url}`),
  );
}

describe.runIf(everySample)('the guide, as it stands there', { shuffle: false }, () => {
  const bash = (text: string, variables: Record<string, string> = {}, typed = '') => {
    const env = { ...environment, ...variables };
    const running = execute('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', text], {
      cwd: folder,
      env,
    });
    running.child.stdin?.end(typed);
    return running;
  };
  const signedIn = () => ({ MPS_URL: service.url, MPS_TOKEN: token });

  test('its first run trains its program twice, with losses that differ', async () => {
    const [install = ''] = await guideExamples('install');
    await bash(install.replace(/^mps login.*$/m, ''));
    const [commands = '', program = ''] = await guideExamples('first-run');
    folder = join(scratch, 'guide');
    await mkdir(folder);
    await writeFile(join(folder, 'train.py'), program);
    await bash(commands, signedIn());
    const { stdout } = await bash('mps ls --json', signedIn());
    const rows = stdout.trim().split('\n');
    const losses = rows.map((row) => JSON.parse(row).metrics.loss.last);
    expect(losses.toSorted()).toEqual([0.1, 0.2]);
  });

  test('its workflow is a whole one, whose last step is a gate', async () => {
    const [workflow = ''] = await guideExamples('ci');
    const { on, jobs } = parse(workflow);
    expect(on).toBe('push');
    expect(jobs.train.defaults.run.shell).toBe('bash');
    const runs: string[] = jobs.train.steps.flatMap(({ run }: { run?: string }) => run ?? []);
    for (const run of runs.slice(0, -1)) await bash(run, signedIn());
    const gate = runs.at(-1) ?? '';
    if (!hasJq) return expect(gate).toContain('jq');
    await bash(gate);
    await expect(bash(gate.replace('< 0.3', '< 0.1'))).rejects.toThrow();
  });

  test("its variables sign MLflow's client in as the user who is typed", async () => {
    const [example = ''] = await guideExamples('mlflow');
    await writeFile(join(folder, 'train.py'), callMlflow);
    const { stdout } = await bash(example, {}, `admin\n${password}\n`);
    expect(stdout).toContain('"Default"');
    await expect(bash(example, {}, 'admin\nwrong password\n')).rejects.toThrow(/401/);
  });
});

/** What MLflow's client does with its variables, without the client. */
const callMlflow = `import base64, os, urllib.request
user, password = (os.environ["MLFLOW_TRACKING_" + name] for name in ("USERNAME", "PASSWORD"))
request = urllib.request.Request(os.environ["MLFLOW_TRACKING_URI"] + "/api/2.0/mlflow/experiments/get?experiment_id=0")
request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())
print(urllib.request.urlopen(request).read().decode())
`;

const judge =
  'import json, sys; print(str(json.load(sys.stdin)["metrics"]["accuracy"]["last"] > 0.9).lower())';
