import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { drawIdenticon } from '../../../functions/users/pictures/identicon.ts';
import { freePort } from '../../../infra/tools/sam/path-relay.ts';
import { outputOf } from './run-program.ts';

const program = join(import.meta.dirname, '../../../infra/tools/sam/main.ts');
const { LAMBDA_IMAGE } = process.env;
/** For sam itself: a stand-in for Lambda's own image where that cannot be pulled. */
const forSam = LAMBDA_IMAGE === undefined ? [] : ['--invoke-image', LAMBDA_IMAGE, '--skip-pull-image'];

const project = new URLSearchParams({
  'project-name': 'Digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
});

let data: string;
let service: ChildProcess;
let ended: Promise<unknown>;
let url: string;
let token: string;
let output = '';

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'mps-sam-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  service = spawn(process.execPath, [program, '--port', String(port), '--data', data, '--', ...forSam], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ended = once(service, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [service.stdout, service.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        output += `${line}\n`;
        if (line.includes('Running on http://127.0.0.1:')) resolve();
      });
    }
    void ended.then(() => reject(new Error(output)));
  });
  await ready;
}, 300_000);

afterAll(async () => {
  service.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
});

async function request(method: string, path: string, more: RequestInit = {}): Promise<Response> {
  const headers = new Headers(more.headers);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  return fetch(`${url}${path}`, { method, ...more, headers });
}

/** The fields of an answer that later requests are made of. */
const Answered = z.looseObject({
  access_token: z.string().default(''),
  project_id: z.string().default(''),
  experiment_id: z.string().default(''),
  upload: z
    .object({ url: z.string(), method: z.string(), headers: z.record(z.string(), z.string()) })
    .default({ url: '', method: 'PUT', headers: {} }),
});
const bodyOf = async (answer: Response) => Answered.parse(await answer.json());

describe('the synthesized API under sam local', () => {
  test('answers without a token, in a container', async () => {
    const answer = await request('GET', '/health');
    expect([answer.status, await answer.json()], output).toEqual([
      200,
      { status: 'ok', service: 'model-project-service' },
    ]);
    expect(outputOf('docker', ['ps', '--format', '{{.Image}}'])).toContain('rapid');
  });

  test('signs in, and refuses a wrong password', async () => {
    const password = await readFile(join(data, 'admin-password'), 'utf8');
    const signIn = (given: string) =>
      request('POST', '/auth/token', {
        body: new URLSearchParams({ grant_type: 'password', username: 'admin', password: given }),
      });
    const refused = await signIn('wrong');
    expect(refused.status, output).toBe(401);
    const answer = await signIn(password);
    expect(answer.status, output).toBe(200);
    const body = await bodyOf(answer);
    token = body.access_token;
    expect(body).toMatchObject({ username: 'admin', account_type: 'admin' });
  });

  test('answers with and without the trailing slash', async () => {
    for (const path of ['/users/me', '/users/me/', '/projects', '/projects/']) {
      expect((await request('GET', path)).status, path).toBe(200);
    }
  });

  test('takes a picture and gives back its bytes', async () => {
    const png = drawIdenticon('a picture', 'thumbnail');
    const put = await request('PUT', '/users/admin/profile_picture', {
      body: Buffer.from(png),
      headers: { 'Content-Type': 'image/png' },
    });
    expect([put.status, await put.text()], output).toMatchObject([200, expect.anything()]);
    const read = await request('GET', '/users/admin/profile_picture', { headers: { Accept: 'image/png' } });
    expect([read.status, read.headers.get('content-type')], output).toEqual([200, 'image/png']);
    const bytes = Buffer.from(await read.arrayBuffer());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    const thumbnail = await request('GET', '/users/admin/thumbnail', { headers: { Accept: 'image/webp' } });
    expect(
      Buffer.from(await thumbnail.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
  });

  test('makes a project with a configuration, and draws it', async () => {
    const made = await request('POST', `/projects/?${project}`);
    const body = await bodyOf(made);
    expect([made.status, body], output).toMatchObject([200, {}]);
    const path = `/projects/${body.project_id}`;
    const put = await request('PUT', `${path}/configs/train.yaml`, {
      body: 'stages:\n  prepare:\n    cmd: a\n',
    });
    expect([put.status, await put.text()]).toMatchObject([200, expect.anything()]);
    const headers = { Accept: 'image/svg+xml' };
    const graph = await request('GET', `${path}/configs/train.yaml/graph`, { headers });
    expect([graph.status, (await graph.text()).slice(0, 4)]).toEqual([200, '<svg']);
    const read = await request('GET', path, { headers: { 'X-Fields': 'project_id' } });
    expect(await read.json()).toEqual({ project_id: body.project_id });
    expect((await request('GET', '/projects/01jgk7y4m8s2v6x0b3n9q5r1tz')).status).toBe(404);
    const artifact = await request(
      'GET',
      `${path}/experiments/01jgk7y4m8s2v6x0b3n9q5r1tz/artifacts/a%2Fb%zz`,
    );
    expect([artifact.status, await artifact.text()]).toEqual([
      400,
      expect.stringContaining('percent-encoding'),
    ]);
    expect((await request('GET', '/nowhere')).status).toBe(403);

    // A URL that a function in a container has signed works for its caller, outside.
    const dataset = new URLSearchParams({ sha256: 'a'.repeat(64), size: '5' });
    const asked = await bodyOf(await request('POST', `${path}/datasets/digits?${dataset}`));
    const { url: signed, method, headers: given } = asked.upload;
    const { 'content-length': _, ...sent } = given;
    const uploaded = await fetch(signed, { method, body: 'wrong', headers: sent });
    expect([uploaded.status, await uploaded.text()]).toEqual([400, expect.stringContaining('BadDigest')]);

    // Submitted to Batch from the container, run beside it.
    const query = new URLSearchParams({
      entry_point_command: 'echo trained',
      env_type: 'system',
      dependencies: 'none',
    });
    const environment = await request('PUT', `${path}/environment?${query}`);
    expect([environment.status, await environment.text()]).toMatchObject([200, expect.anything()]);
    const begun = await request('POST', `${path}/train?config=train.yaml`);
    const experiment = await bodyOf(begun);
    expect([begun.status, experiment], output).toMatchObject([200, {}]);
    const logs = `${path}/experiments/${experiment.experiment_id}/logs`;
    const log = async () => (await request('GET', logs, { headers: { Accept: 'text/plain' } })).text();
    await expect.poll(log, { timeout: 60_000, interval: 1000 }).toContain('trained');
  });
});

test('one function is invoked with a generated event', async () => {
  const own = await mkdtemp(join(tmpdir(), 'mps-sam-'));
  try {
    const answer = outputOf(process.execPath, [
      program,
      'invoke',
      'readHealth',
      '--data',
      own,
      '--',
      ...forSam,
    ]);
    expect(JSON.parse(answer)).toMatchObject({ statusCode: 200, body: expect.stringContaining('"ok"') });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
});
