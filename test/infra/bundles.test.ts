import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { bundleSources, findSources } from '../../infra/aws/build/build-parts.ts';
import { sampledSources } from '../support/sampled-sources.ts';

const root = join(import.meta.dirname, '../..');
await mkdir(join(root, '.build'), { recursive: true });
// Within the project, so that this machine's own picture codec is found.
const folder = await mkdtemp(join(root, '.build/bundles-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const sources = sampledSources(await findSources(root));
const bundles = await bundleSources(root, folder, sources);

/** JavaScript of a function. */
const maxBytes = (name: string): number => larger[name] ?? (beginsTrainings.test(name) ? 970_000 : 900_000);

/** They may begin trainings of a sweep, a schedule or an export, whose values they write into configurations: the parser of TOML has 60 KB. */
const beginsTrainings = /Sweep$|^(?:createExport|createTrial|rerunExperiment|cancelExperiment|runSchedule)$/;

/** `readCommand` holds the archive of `mps` with the engine, `mps` as one file with its help, and the wheel, as text, which it only hands out. `backgroundPass` runs five tasks. `putImport` brings reports and schedules, too. `createExport` asks the Hub, and keeps to public addresses. `createSweep` and `updateSweep` read configurations and begin trainings. `jobStateChanged` settles jobs, begins the compression of an exported model and sends messages, whose filters may have regular expressions: RE2's tables of Unicode have 150 KB. `downloadSharedFile` has them for the filters of views that a shared report shows. `readConsole` and `readConsoleFile` hand out the page. `readDocs` and `readOpenapi` describe every operation. */
const larger: Readonly<Record<string, number>> = {
  backgroundPass: 1_250_000,
  readCommand: 1_980_000,
  downloadSharedFile: 953_000,
  createExport: 995_000,
  putImport: 915_000,
  createSweep: 980_000,
  updateSweep: 980_000,
  jobStateChanged: 1_180_000,
  readConsole: 980_000,
  readConsoleFile: 980_000,
  readDocs: 1_200_000,
  readOpenapi: 1_200_000,
};

test.each(bundles.map((bundle) => [bundle.name, bundle] as const))(
  'the bundle of %s is small, and has everything it imports',
  (name, { bytes, imports }) => {
    expect(bytes).toBeLessThan(maxBytes(name));
    const endpoint = sources.endpoints.find((one) => one.endpoint.name === name)?.endpoint;
    expect(imports.toSorted()).toEqual([...(endpoint?.runtime?.native ?? [])].sort());
  },
);

test('every bundle answers, not only its source', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'test/support/run-bundles.ts'), folder],
    // Each bundle is new, and loaded once.
    { maxBuffer: 1e8, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } },
  );
  const answers = stdout
    .split('\n')
    .filter((line) => line.startsWith('{"name"'))
    .map((line) => JSON.parse(line));
  expect(answers.map(({ name }) => name).sort()).toEqual(bundles.map(({ name }) => name).sort());
  const failed = answers.filter(({ status }) => status >= 500);
  expect(failed).toEqual([]);
  // Some are refused for good reasons: what they are about was not made, or was made already.
  const good = answers.filter(({ status }) => status < 400);
  expect(good.length).toBeGreaterThan(answers.length * 0.7);
  expect(answers.find(({ name }) => name === 'anyMethod')).toMatchObject({ status: 405 });
});
