import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const experiment_id = '01m81vnz70vmqzhdpxra5dgmp1';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-compress-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Answers with what the command reads, and as storage. */
const serving: Turn = (response, request) => {
  const { method, url, headers } = request;
  const upload = { url: `http://${headers.host}/storage`, method: 'PUT', headers: {}, expires_in: 60 };
  const answer = url.includes('/artifacts/')
    ? { upload, upload_id: 'u', sha256: '', size: 1 }
    : { project_id, project_name: 'p', experiment_id };
  const fault = { in: 'body', name: 'data', message: 'must be a data set of the project' };
  if (url === '/optimization/exports/check' && request.body.includes('absent'))
    json({ detail: 'data', errors: [fault] }, 400)(response, request);
  else if (method === 'PUT' && url === '/storage') response.end();
  else json(answer)(response, request);
};

async function asked(...args: readonly string[]) {
  const { url, received } = await served(serving);
  const environment = { MPS_URL: url, MPS_TOKEN: 'a.b' };
  const words = ['compress', ...args, '-p', project_id, '-d'];
  const { code, stderr, stdout } = await runMps(words, { folder: home, home, environment });
  const begun = received.find(({ method, url: path }) => method === 'POST' && path.endsWith('/exports'));
  return { code, stderr, stdout, received, body: begun && JSON.parse(begun.body) };
}

test('mps compress takes a model of the Hub, with a machine and a share in percent', async () => {
  const { code, stdout, body } = await asked(
    ...['hf://an-owner/a-model@v1', '--for', 'lambda', '--max-loss', '1%', '--task', 'fill-mask'],
  );

  expect([code, stdout.trim()]).toEqual([0, experiment_id]);
  expect(body).toEqual({
    ...{ project_id, source: { hf: 'an-owner/a-model', revision: 'v1' } },
    ...{ for: 'lambda', max_loss: 0.01, task: 'fill-mask' },
  });
});

test('mps compress refuses an unknown machine or task before it uploads a folder', async () => {
  await mkdir(join(home, 'mine'));
  await writeFile(join(home, 'mine/config.json'), '{}');
  const machine = await asked('./mine', '--for', 'toaster');
  const task = await asked('./mine', '--task', 'translation');

  expect([machine.code, machine.received, task.code, task.received]).toEqual([2, [], 2, []]);
  expect(machine.stderr).toContain('must be one of any, x86-64-v2');
  expect(task.stderr).toContain('must be one of feature-extraction, ');
});

test('mps compress asks whether the service would begin before it uploads a folder and texts', async () => {
  await mkdir(join(home, 'mine'));
  await writeFile(join(home, 'mine/config.json'), '{}');
  const refused = await asked('./mine', '--data', 'absent', '--budget', '5', '--name', 'taken');

  expect(refused).toMatchObject({ code: 2, stderr: 'data must be a data set of the project\n' });
  expect(refused.received.filter(({ method }) => method !== 'GET')).toMatchObject([
    { method: 'POST', url: '/optimization/exports/check' },
  ]);
});

test('mps compress takes the address of the page of a model', async () => {
  const { code, body } = await asked('https://huggingface.co/an-owner/a-model/tree/v1');

  expect([code, body.source]).toEqual([0, { hf: 'an-owner/a-model', revision: 'v1' }]);
});

test('mps compress says how a model of the Hub is written', async () => {
  const wrong = ['hf://', 'hf://a/b@', 'https://github.com/a/b'];
  const refused = await Promise.all(wrong.map((place) => asked(place)));

  for (const { code, stderr, body } of refused)
    expect([code, stderr, body]).toEqual([2, expect.stringContaining('hf://OWNER/NAME@REVISION'), undefined]);
});

test('mps compress uploads the files of a model in a folder, and no state of its training', async () => {
  const folder = join(home, 'my tuned');
  for (const name of [
    'config.json',
    'model.safetensors',
    '1_Pooling/config.json',
    'checkpoint-5/optimizer.pt',
  ]) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), '{}');
  }

  const { code, body, received, stderr } = await asked(folder);

  expect(code, stderr).toBe(0);
  expect(body).toMatchObject({ source: { experiment_id, path: '' }, name: 'my-tuned' });
  const sent = received.flatMap(({ method, url }) =>
    method === 'PUT' ? (/\/artifacts\/(.*)\?/.exec(url)?.[1] ?? []) : [],
  );
  expect(sent).toEqual(['1_Pooling/config.json', 'config.json', 'model.safetensors']);
  expect(received.filter(({ method }) => method === 'PATCH').map(({ body: text }) => text)).toEqual([
    '{"status":"SUCCEEDED"}',
  ]);
});

test('mps compress says what it takes, before it asks for anything', async () => {
  const none = await asked('a-model');
  const loss = await asked('hf://an-owner/a-model', '--max-loss', '101%');
  const bare = await asked(home);

  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('hf://OWNER/NAME')]);
  expect([loss.code, loss.body]).toEqual([2, undefined]);
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('config.json')]);
});
