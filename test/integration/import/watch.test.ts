import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cliContext } from '../../../cli/context.ts';
import { importTracker } from '../../../cli/import/import-tracker.ts';
import { tellNewerVersion } from '../../../cli/login/newer-version.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/import/tensorboard');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('--watch brings runs that begin later, until Ctrl-C, and says then what came', async () => {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  const runs = join(folder, 'runs');
  await mkdir(runs);
  let printed = '';
  const screen = {
    write(text: string) {
      printed += text;
    },
  };
  const env = { HOME: folder, MPS_CHECKOUT: folder, MPS_URL: bridge.url, MPS_TOKEN: 'a.b' };
  const context = cliContext({ stdin: {}, stdout: screen, stderr: screen, env, cwd: () => folder });
  const before = new Set(process.listeners('SIGINT'));
  const ended = importTracker(
    context,
    'tensorboard',
    'runs',
    { watch: true, report: 'report.json' },
    10,
  ).catch((error: unknown) => error);
  await expect.poll(() => printed).toMatch(/has no runs of TensorBoard[\s\S]*0 runs are here\./);
  await cp(join(fixtures, 'first'), join(runs, 'first'), { recursive: true });
  await expect.poll(() => printed).toContain('1 runs are here.');
  await cp(join(fixtures, 'second'), join(runs, 'second'), { recursive: true });
  await expect.poll(() => printed).toContain('2 runs are here.');
  for (const press of process.listeners('SIGINT').filter((listener) => !before.has(listener)))
    press('SIGINT');
  expect(await ended).toBeUndefined();
  await tellNewerVersion(context);
  expect(printed).toMatch(/brought +2 runs of TensorBoard/);
  expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'))).toMatchObject({
    runs: 2,
    failures: [],
  });
  await bridge.close();
});
