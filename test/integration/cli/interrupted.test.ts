import { mkdtemp, readdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runMps, startMps } from '../../support/mps.ts';
import { json, type Received, served, type Turn } from '../client/served.ts';
import { sha256 } from '../projects/upload-file.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const experiment_id = '01m81vnz70vmqzhdpxra5dgmp1';
const model = Buffer.alloc(300_000, 'a trained model\n');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-interrupted-'));
  await writeFile(join(folder, 'train.py'), 'print(1)\n');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const project = { project_id, project_name: 'p', owner: 'ada', owner_id: 'a' };
const artifact = { path: 'model.bin', size: model.length, sha256: sha256(model) };
const silent: Turn = () => {};

/** Answers of a service by the beginnings of requests; it never answers any other. */
const answers: Readonly<Record<string, Turn>> = {
  'GET /projects/?': json([project]),
  'GET /projects/check-training': json({}),
  [`GET /projects/${project_id}/experiments?`]: json([{ experiment_id, project_id }]),
  [`GET /projects/${project_id}/experiments/${experiment_id}/artifacts?`]: json([artifact]),
  [`GET /projects/${project_id}/experiments/${experiment_id}`]: json({ experiment_id, project_id }),
  [`GET /projects/${project_id}/environment`]: json({ detail: 'none yet' }, 404),
  [`PUT /projects/${project_id}/environment`]: json({}),
  [`PUT /projects/${project_id}/configs/`]: json({ version: 1 }),
  [`GET /projects/${project_id}/source`]: json({ sha256: 'f' }),
  [`PUT /projects/${project_id}/source`]: json({ detail: 'not uploaded' }, 409),
  [`GET /projects/${project_id}/datasets`]: json([]),
};

const dispatch =
  (more: Readonly<Record<string, Turn>>): Turn =>
  (response, request) => {
    const asked = `${request.method} ${request.url}`;
    const all = [...Object.entries(more), ...Object.entries(answers)];
    const [, turn = silent] = all.find(([beginning]) => asked.startsWith(beginning)) ?? [];
    turn(response, request);
  };

/** Sends all bytes but the last ones, and then nothing. */
const stalling: Turn = (response) => {
  response.writeHead(200, { 'Content-Length': model.length });
  response.write(model.subarray(0, -1000));
};
const whole: Turn = (response, { headers }) => {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  response.writeHead(from === 0 ? 200 : 206).end(model.subarray(from));
};
const download = `GET /projects/${project_id}/experiments/${experiment_id}/artifacts/model.bin`;

const seen = async (received: readonly Received[], beginning: string): Promise<void> => {
  await expect
    .poll(() => received.map(({ method, url }) => `${method} ${url}`).join('\n'))
    .toContain(beginning);
};
const environmentOf = (url: string) => ({ MPS_URL: url, MPS_TOKEN: 'a.b' });

describe('Ctrl-C', () => {
  const stages = [
    { what: 'projects are looked for', args: ['run', '-p', 'p'], at: 'GET /projects/?', isSilent: true },
    {
      what: 'the environment is stored',
      args: ['run', '-p', 'p'],
      at: `PUT /projects/${project_id}/environment`,
      isSilent: true,
    },
    { what: 'the source is announced', args: ['run', '-p', 'p'], at: `POST /projects/${project_id}/source` },
  ];
  test.each(stages)('while $what ends it, and submits nothing', async ({ args, at, isSilent = false }) => {
    const { url, received } = await served(dispatch(isSilent ? { [at]: silent } : {}));
    const scratch = await mkdtemp(join(tmpdir(), 'mps-scratch-'));
    const environment = { ...environmentOf(url), TMPDIR: scratch };
    const started = startMps(args, { folder, home: folder, environment });
    await seen(received, at);
    started.child.kill('SIGINT');
    const ended = await started.ended;
    expect([ended.code, ended.stderr]).toEqual([
      130,
      expect.stringContaining('Interrupted; nothing was submitted.'),
    ]);
    expect(received.map((one) => one.url)).not.toContainEqual(expect.stringContaining('/train'));
    expect(await readdir(scratch)).toEqual([]);
    await rm(scratch, { recursive: true });
  });

  test('while a data set is sent says that it is as it was', async () => {
    const { url, received } = await served(dispatch({}));
    const args = ['data', 'push', 'numbers', 'train.py', '-p', 'p'];
    const started = startMps(args, { folder, home: folder, environment: environmentOf(url) });
    await seen(received, `POST /projects/${project_id}/datasets/numbers`);
    started.child.kill('SIGINT');
    const ended = await started.ended;
    expect([ended.code, ended.stderr]).toEqual([130, expect.stringContaining('numbers is unchanged')]);
    expect(received.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test.each([
    {
      what: 'a configuration is stored',
      args: ['config', 'push', 'train.yaml', '-p', 'p'],
      at: `PUT /projects/${project_id}/configs/train.yaml`,
      told: 'The last request may still have taken effect.',
    },
    {
      what: 'a model is announced',
      args: ['models', 'push', 'net', 'net.onnx'],
      at: 'POST /optimization/models/net',
      told: 'net waits a day for the missing files.',
    },
  ])('while $what ends it, and says what is left', async ({ args, at, told }) => {
    await writeFile(join(folder, 'train.yaml'), 'epochs: 1\n');
    await writeFile(join(folder, 'net.onnx'), model);
    const { url, received } = await served(dispatch({ [at]: silent }));
    const started = startMps(args, { folder, home: folder, environment: environmentOf(url) });
    await seen(received, at);
    started.child.kill('SIGINT');
    const { code, stderr } = await started.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining(told)]);
  });

  test('while artifacts are fetched leaves a part, with which the same command goes on', async () => {
    let turn = stalling;
    const { url, received } = await served(dispatch({ [download]: (...asked) => turn(...asked) }));
    const args = ['pull', '-p', 'p', '--to', 'out'];
    const started = startMps(args, { folder, home: folder, environment: environmentOf(url) });
    await expect
      .poll(() =>
        stat(join(folder, 'out/model.bin.part')).then(
          ({ size }) => size,
          () => 0,
        ),
      )
      .toBeGreaterThan(0);
    started.child.kill('SIGINT');
    const ended = await started.ended;
    expect([ended.code, ended.stderr]).toEqual([
      130,
      expect.stringContaining('run the same command again to continue'),
    ]);
    expect(await readdir(join(folder, 'out'))).toEqual(['model.bin.part']);

    turn = whole;
    const again = await runMps(args, { folder, home: folder, environment: environmentOf(url) });
    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect(received.at(-1)?.headers.range).toMatch(/^bytes=[1-9]\d*-$/);
    expect((await readFile(join(folder, 'out/model.bin'))).equals(model)).toBe(true);
  });
});

describe('a full disk', () => {
  test('in a download is told; the same command fetches it once there is room', async () => {
    const { url } = await served(dispatch({ [download]: whole }));
    const args = ['pull', '-p', 'p', '--to', '.'];
    const options = { folder, home: folder, environment: environmentOf(url) };
    // A device on which every write fails as on a full disk.
    await symlink('/dev/full', join(folder, 'model.bin.part'));
    const full = await runMps(args, options);
    expect([full.code, full.stderr]).toEqual([
      1,
      expect.stringMatching(/The disk is full.*Free some space/s),
    ]);
    expect(await readdir(folder)).not.toContain('model.bin');
    await unlink(join(folder, 'model.bin.part'));
    expect(await runMps(args, options)).toMatchObject({ code: 0 });
    expect((await readFile(join(folder, 'model.bin'))).equals(model)).toBe(true);
  });

  test('is told apart from a file in the place of the folder', async () => {
    const { url } = await served(dispatch({}));
    const options = { folder, home: folder, environment: environmentOf(url) };
    const refused = await runMps(['pull', '-p', 'p', '--to', 'train.py'], options);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a folder') });
  });
});
