import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import { offlineFolder } from '../../../cli/import/sources/offline-folder.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type RecordingService, recordingService } from '../python/recording.ts';
import { readAll } from './read-whole.ts';

let recording: RecordingService;
beforeAll(async () => {
  recording = await recordingService();
});
afterAll(() => recording.close());

const bring = (folder: string, signal?: AbortSignal) =>
  importRuns(
    {
      source: offlineFolder(folder),
      api: new TrackingApi(recording.bridge.url, undefined, signal),
      rename: (name) => name,
    },
    () => undefined,
  );

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'recorded-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const id = 'a'.repeat(32);

/** Write the records of a run, each a line. */
async function write(lines: readonly object[], head: object = {}, name = id): Promise<string> {
  const folder = await scratch();
  const run = join(folder, '.mps/offline', name);
  await mkdir(join(run, 'files'), { recursive: true });
  const first = {
    mps: 1,
    id,
    project: 'digits',
    name: 'made',
    user: 'ada',
    host: 'elsewhere',
    pid: 1,
    at: 1000,
  };
  const text = [{ ...first, ...head }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
  await writeFile(join(run, 'records.ndjson'), text);
  return folder;
}

const readOne = async (folder: string) => {
  const [run] = (await readAll(offlineFolder(folder))).values();
  if (run === undefined) throw new Error('There is no run.');
  return run;
};

test('a run that a program recorded offline comes whole and once, whoever sends it first and again', async () => {
  await recording.run(`
import mps
with mps.record("digits", params={"lr": 0.1}, name="kept", tags={"team": "a", "kind": "b"}, offline=True) as r:
    for step in range(300): r.log({"val/loss": 1 / (step + 1)}, step=step)
    r.log(odd=float("nan"), step=3)
    r.tag("team", None)
    r.table("rows", [{"a": 1, "b": 2}], step=2)
`);
  const copied = await scratch();
  await cp(join(recording.folder, '.mps'), join(copied, '.mps'), { recursive: true });

  const first = await bring(recording.folder);
  const again = await bring(recording.folder);
  await recording.run(`
import mps, os, time
with mps.record("digits", name="next") as r:
    while len(os.listdir(".mps/offline")) > 1: time.sleep(0.05)
`);
  const behind = await bring(copied);

  expect(first).toMatchObject({
    runs: 1,
    known: 0,
    points: 301,
    params: 1,
    files: 1,
    omitted: {},
    failures: [],
  });
  for (const later of [again, behind])
    expect(later).toMatchObject({ runs: 1, known: 1, points: 0, failures: [] });
  const found = (await recording.runs()).filter(({ name }: { name: string }) => name === 'kept');
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ status: 'SUCCEEDED', params: { lr: '0.1' }, artifacts: 1 });
  expect(found[0].tags).toMatchObject({ kind: 'b' });
  expect(found[0].tags.team).toBeUndefined();
  expect(await recording.steps(found[0], 'val/loss')).toEqual(range(300));
});

test('a run that the package has sent by half is finished by the import, once and as it was logged', async () => {
  let calls = 0;
  recording.cut(() => {
    calls += 1;
    return calls > 6 ? 'before' : undefined;
  });
  const program = await recording.start(`
import mps, time
r = mps.record("digits", params={"lr": 0.1}, name="half", tags={"team": "a"})
for step in range(2500):
    r.log({"loss": step / 7}, step=step)
print("logged", flush=True)
time.sleep(60)
`);
  await once(program.child.stdout, 'data');
  while (calls < 8) await sleep(20);
  const [own = ''] = await recording.left();
  await appendFile(
    join(recording.folder, '.mps/offline', own, 'records.ndjson'),
    `${JSON.stringify({ at: 1, tags: { team: null, kind: 'b' } })}\n${JSON.stringify({ at: 2, params: { depth: '3' } })}\n`,
  );
  const halfSent = (await recording.runs()).find(({ name }: { name: string }) => name === 'half');
  program.child.kill('SIGKILL');
  await program.ended;
  recording.cut();

  const brought = await bring(recording.folder);
  const again = await bring(recording.folder);

  expect(halfSent.tags).toMatchObject({ team: 'a' });
  expect(brought).toMatchObject({ runs: 1, known: 0, failures: [] });
  expect(again).toMatchObject({ runs: 1, known: 1, points: 0, failures: [] });
  const found = (await recording.runs()).filter(({ name }: { name: string }) => name === 'half');
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ status: 'FAILED', params: { lr: '0.1', depth: '3' } });
  expect(found[0].tags).toMatchObject({ kind: 'b' });
  expect(found[0].tags.team).toBeUndefined();
  expect(await recording.steps(found[0], 'loss')).toEqual(range(2500));
});

test('torn lines, values that are none and files elsewhere are counted, and the rest comes', async () => {
  const folder = await write([
    { at: 1001, step: 1, metrics: { loss: 0.5, bad: 'much', odd: 'NaN' } },
    { at: 1002, params: { lr: '1' }, tags: { a: 'x' } },
    { at: 1003, params: { lr: '2' }, tags: { a: 'y' }, unknown: [1] },
    { at: 1004, file: { path: 'key', stored: '../../../secret', size: 1 } },
    { at: 1005, file: { path: 'link', stored: `files/${'b'.repeat(16)}`, size: 1 } },
    { at: 1006, file: { path: 'whole', stored: `files/${'c'.repeat(16)}`, size: 5 } },
    { at: 1007, end: 'FAILED' },
  ]);
  const run = join(folder, '.mps/offline', id);
  await writeFile(join(folder, 'secret'), 'secret');
  await symlink(join(folder, 'secret'), join(run, 'files', 'b'.repeat(16)));
  await writeFile(join(run, 'files', 'c'.repeat(16)), 'whole');
  await appendFile(join(run, 'records.ndjson'), 'no JSON\n[1]\n{"at": 1008, "metrics": {"loss": 9}');

  const read = await readOne(join(folder, '.mps'));

  expect(read.run).toMatchObject({ id, status: 'FAILED', user: 'ada', start: 1000, end: 1007 });
  expect([read.params, read.tags]).toEqual([{ lr: '1' }, { a: 'y' }]);
  expect(read.points).toEqual([
    { key: 'loss', value: 0.5, timestamp: 1001, step: 1 },
    { key: 'odd', value: 'NaN', timestamp: 1001, step: 1 },
  ]);
  expect([...read.files]).toEqual([['whole', 'whole']]);
  expect(read.omitted).toEqual({
    'values of metrics that are no numbers': 1,
    'lines that are no records': 2,
    'files that are no longer there, or lead elsewhere': 2,
  });
});

test('a run without an end goes on where its process lives, and was killed where it does not', async () => {
  const stateOf = async (head: object) =>
    (await readOne(await write([{ at: 1500, step: 0, metrics: {} }], head))).run;

  expect(await stateOf({ host: hostname(), pid: process.pid })).toMatchObject({
    status: 'RUNNING',
    end: undefined,
  });
  // No machine has such a process.
  expect(await stateOf({ host: hostname(), pid: 2 ** 30 })).toMatchObject({ status: 'FAILED', end: 1500 });
  expect(await stateOf({ host: 'elsewhere' })).toMatchObject({ status: 'RUNNING' });
});

test.each([
  [{ mps: 2 }, 'not of this version'],
  [{ id: '../../x' }, 'no 32 hexadecimal digits'],
  [{ project: null }, 'names no project'],
])('records that begin with %j are named, and the others come', async (head, reason) => {
  const folder = await write([], head);
  await cp(
    join(await write([], { id: 'f'.repeat(32) }), '.mps/offline', id),
    join(folder, '.mps/offline', 'f'.repeat(32)),
    {
      recursive: true,
    },
  );
  const source = offlineFolder(folder);

  expect((await readAll(source)).size).toBe(1);
  expect(source.unread?.()).toEqual([expect.stringContaining(reason)]);
});

test('a project that is named by its id takes the run, and no other is made', async () => {
  const { project_id } = (await recording.runs())[0];
  const folder = await write([{ at: 1001, end: 'FINISHED' }], { project: project_id, name: 'by id' });

  await bring(folder);

  expect((await recording.runs()).map(({ name }: { name: string }) => name)).toContain('by id');
});

/** RECORDING_KILLS=100 is the figure of the import. */
const kills = Number(process.env['RECORDING_KILLS'] ?? (everySample ? 12 : 3));

test(`${kills} imports that end anywhere, of torn records that grow, bring all once`, async () => {
  const random = seededRandom(Number(process.env['SEED'] ?? 5));
  for (const round of range(kills)) {
    const name = `killed ${round}`;
    const own = (round + 1).toString(16).padStart(32, '0');
    const lines = range(9000).map((step) => ({ at: 1000 + step, step, metrics: { loss: step / 7, acc: 1 } }));
    const folder = await write([...lines, { at: 11_000, end: 'FINISHED' }], { id: own, name }, own);
    const path = join(folder, '.mps/offline', own, 'records.ndjson');
    const whole = join(folder, 'whole');
    await cp(path, whole);
    await truncate(path, 400_000 + Math.floor(random() * 100_000));
    for (const limit of [1, 2, 3].map((most) => Math.floor(random() * 2 * most))) {
      const ended = new AbortController();
      let calls = 0;
      recording.cut(() => {
        calls += 1;
        if (calls > limit) ended.abort();
        return calls > limit ? (random() < 0.5 ? 'before' : 'after') : undefined;
      });
      await bring(folder, ended.signal).catch(() => undefined);
    }
    recording.cut();
    await cp(whole, path);

    expect(await bring(folder)).toMatchObject({ runs: 1, failures: [] });
    const found = (await recording.runs()).filter((run: { name: string }) => run.name === name);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ status: 'SUCCEEDED' });
    for (const metric of ['loss', 'acc'])
      expect(await recording.steps(found[0], metric)).toEqual(range(9000));
  }
});

test('the folder may be that of the program, of the runs or of one run', async () => {
  const folder = await write([{ at: 1001, end: 'FINISHED' }]);

  for (const place of ['.', '.mps', '.mps/offline', `.mps/offline/${id}`, `.mps/offline/${id}/`])
    expect((await readAll(offlineFolder(join(folder, place)))).size, place).toBe(1);
  expect(await readdir(join(folder, '.mps/offline', id))).toContain('records.ndjson');
});
