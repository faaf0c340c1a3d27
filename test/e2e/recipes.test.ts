import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
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
  const { PATH = '' } = process.env;
  environment = {
    PATH: `${scratch}/prefix/bin:${PATH}`,
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

// The notebook uses the command that the Action has installed.
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
    const shown = '\nprint(json.dumps([row["params"]["learning_rate"] for row in rows]))\n';
    const running = execute('python3', ['-c', typed + cell + shown], { cwd: folder, env: environment });
    running.child.stdin?.end(`${token}\n`);
    const rates = z.array(z.string()).parse(JSON.parse((await running).stdout));
    expect(rates.toSorted()).toEqual(['0.1', '0.2', '0.4']);
  });
});

const judge =
  'import json, sys; print(str(json.load(sys.stdin)["metrics"]["accuracy"]["last"] > 0.9).lower())';
