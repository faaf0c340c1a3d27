import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type RecordingService, recordingService } from './recording.ts';

let recording: RecordingService;
beforeAll(async () => {
  recording = await recordingService();
});
afterAll(() => recording.close());

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a program records a run with all that it logs', async () => {
  const ended = await recording.run(`
import mps
with mps.record("digits", params={"lr": 0.1, "net": {"depth": 3}}, name="first", tags={"team": "a", "kind": "b"}) as r:
    for step in range(1500):
        r.log({"val/loss": 1 / (step + 1)}, step=step)
    r.log(odd=float("nan"), step=3)
    r.tag("team", None)
    r.image("sample", b"\\x89PNG", step=2)
    r.table("rows", [{"a": 1, "b": 2}], step=2)
    open("large.bin", "wb").write(b"x" * 5_000_000)
    r.file("large.bin", "model/large.bin")
`);

  const { service, as } = recording;
  const [run] = await recording.runs();
  const path = { project_id: run.project_id, experiment_id: run.experiment_id };
  const read = (await service.call(readExperiment, { path, as })).json;
  const files = (await service.call(listArtifacts, { path, as })).json;
  const sizes = files.map(({ path: name, size }: { path: string; size: number }) => [name, size]);
  expect(ended).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^mps: this run is .*\n$/),
  });
  expect(ended.stderr).toContain(`/console#/projects/${run.project_id}/experiments/${run.experiment_id}\n`);
  expect(read).toMatchObject({ name: 'first', status: 'SUCCEEDED', params: { lr: '0.1', 'net.depth': '3' } });
  expect(read.tags).toMatchObject({ kind: 'b' });
  expect(read.tags.team).toBeUndefined();
  expect(read.metrics.odd.last).toBe('NaN');
  expect(await recording.steps(run, 'val/loss')).toEqual(range(1500));
  expect(sizes).toEqual([
    ['images/sample_step_2.png', 4],
    ['model/large.bin', 5_000_000],
    ['tables/rows_step_2.csv', 8],
  ]);
  expect(await recording.left()).toEqual([]);
});

test('a run that was recorded offline comes with the next one, under its own start', async () => {
  await recording.run(`
import mps
with mps.record("digits", name="offline", offline=True) as r:
    for step in range(20): r.log(loss=step, step=step)
    r._journal.append(b'{"at": 1, "file": {"path": "secret", "stored": "../../../train.py", "size": 1}}\\n')
    stored, _ = r._journal.add_file(b"x")
    r._journal.append(b'{"at": 1, "file": {"path": "../../x", "stored": "%s", "size": 1}}\\n' % stored.encode())
`);
  const [kept] = await recording.left();
  const ended = await recording.run(`
import mps, os, time
with mps.record("digits", name="next") as r:
    while os.path.exists(".mps/offline/${kept}"): time.sleep(0.05)
`);

  const runs = await recording.runs();
  const found = runs.filter(({ name }: { name: string }) => name === 'offline');
  expect(kept).toMatch(/^[0-9a-f]{32}$/);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ status: 'SUCCEEDED' });
  expect(found[0].artifacts).toBe(0);
  expect(await recording.steps(found[0], 'loss')).toEqual(range(20));
  expect(ended.stderr).toContain('the run offline of an earlier program is sent.');
  expect(await recording.left()).toEqual([]);
});

test('records that came from elsewhere are not sent by themselves, and name no file of this machine', async () => {
  await recording.run(`
import mps, json, pathlib
with mps.record("stolen", name="hostile", offline=True) as r: r.log(loss=1)
(file,) = pathlib.Path(".mps/offline").glob("*/records.ndjson")
first, *rest = file.read_text().splitlines()
file.write_text("\\n".join([json.dumps({**json.loads(first), "host": "elsewhere"}), *rest, ""]))
`);
  const ended = await recording.run(`
import mps, time
with mps.record("digits") as r:
    while not any("another machine" in said for said in r._said): time.sleep(0.05)
`);

  const names = (await recording.runs()).map(({ name }: { name: string }) => name);
  expect(ended.stderr).toContain('is of another machine, person or service');
  expect(names).not.toContain('hostile');
  expect(await recording.left()).toHaveLength(1);
  await rm(join(recording.folder, '.mps'), { recursive: true });
});

/** Kills of programs that record, and breaks of their connections. RECORDING_KILLS=100 is the figure of the package. */
const kills = Number(process.env['RECORDING_KILLS'] ?? (everySample ? 12 : 4));

test(`of ${kills} programs that are killed, nothing acknowledged is lost and nothing comes twice`, async () => {
  const random = seededRandom(Number(process.env['SEED'] ?? 7));
  let down = 0;
  let outages = 0;
  recording.cut(() => {
    if (down > 0) {
      down -= 1;
      return 'before';
    }
    const chance = random();
    if (chance < 0.15) {
      down = Math.ceil(random() * 4);
      outages += 1;
    }
    return chance < 0.3 ? 'after' : undefined;
  });
  const acknowledged = new Map<string, number[]>();
  for (const index of range(kills)) {
    const name = `killed-${index}`;
    const { child, ended } = await recording.start(`
import mps, time
r = mps.record("digits", name="${name}")
step = 0
while True:
    if r.log(loss=step / 7, step=step): print(step, flush=True)
    step += 1
    if step % 50 == 0: time.sleep(0.02)
`);
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), 30 + random() * 1400));
    const { stdout } = await ended;
    // A number without its line feed was torn with the print.
    acknowledged.set(name, stdout.split('\n').slice(0, -1).map(Number));
  }
  recording.cut();
  const ended = await recording.run(`
import mps, os, time
with mps.record("digits", name="last") as r:
    while len(os.listdir(".mps/offline")) > 1: time.sleep(0.05)
`);

  const runs = await recording.runs();
  let lost = 0;
  let doubled = 0;
  let points = 0;
  for (const [name, steps] of acknowledged) {
    const found = runs.filter((run: { name: string }) => run.name === name);
    expect(found, name).toHaveLength(1);
    const stored = await recording.steps(found[0], 'loss');
    const unique = new Set(stored);
    doubled += stored.length - unique.size;
    lost += steps.filter((step) => !unique.has(step)).length;
    points += steps.length;
    expect(found[0].status).toBe('FAILED');
  }
  console.log(JSON.stringify({ kills, outages, points, lost, doubled }));
  expect({ code: ended.code, lost, doubled }).toEqual({ code: 0, lost: 0, doubled: 0 });
  expect(points).toBeGreaterThan(kills);
});
