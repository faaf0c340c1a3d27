import { spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { prepareServiceFolder } from '../../infra/local/image/prepare.ts';
import { thisHost } from '../../shared/host/this-host.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { onnxFixture } from '../support/model.ts';
import { sendRaw } from '../support/raw-http.ts';
import { everySample } from '../support/samples.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Another address of this machine, in the place of one that others reach. */
const publicHost = '127.0.0.2';

/** What Docker gives a container, and what compose.yaml adds. */
const capabilities = [
  ...'chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod'.split(
    ' ',
  ),
  ...'audit_write setfcap'.split(' '),
  ...z
    .object({ services: z.object({ service: z.object({ cap_add: z.array(z.string()) }) }) })
    .parse(parse(readFileSync(join(root, 'compose.yaml'), 'utf8')))
    .services.service.cap_add.map((name) => name.toLowerCase()),
];
const bounding = `--bounding-set=-all,${capabilities.map((name) => `+${name}`).join(',')}`;
const canBound = spawnSync('setpriv', [bounding, 'true']).status === 0;

/** A free port below those that the kernel gives to others meanwhile. */
async function freePort(): Promise<number> {
  const port = randomInt(10_000, 30_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the service of the image, which others reach by another address', () => {
  let folder: string;
  let service: LocalService;
  let s3Port: number;
  let url: string;
  let flags: string[];
  let Authorization: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps image-'));
    await prepareServiceFolder(root, join(folder, 'service'));
    s3Port = await freePort();
    const port = await freePort();
    url = `http://${publicHost}:${port}`;
    flags = ['--host', '0.0.0.0', '--public-url', url, '--s3-port', String(s3Port)];
    const started = await startLocalService(
      ['--port', String(port), '--data', join(folder, 'data'), ...flags],
      { ADMIN_PASSWORD: 'a long enough password', HOME: folder },
      canBound ? ['setpriv', bounding] : [],
      join(folder, 'service/start.mjs'),
    );
    if (!('url' in started)) throw new Error(started.output);
    service = started;
    const body = new URLSearchParams({
      grant_type: 'password',
      username: 'admin',
      password: 'a long enough password',
    });
    const answer = await fetch(`${url}/auth/token`, { method: 'POST', body });
    Authorization = `Bearer ${z.object({ access_token: z.string() }).parse(await answer.json()).access_token}`;
  });

  afterAll(async () => {
    await service?.end('SIGTERM');
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test('says by which address, and that nothing protects the way there', () => {
    expect(service.output()).toContain(`Console                ${url}/console`);
    expect(service.output()).toContain(`because ${url} is not https`);
    expect(service.url).toBe(url.replace(publicHost, '127.0.0.1'));
  });

  test.runIf(canBound && thisHost.canSandbox())(
    'separates jobs with the capabilities of the container',
    () => {
      const warnings = service.output().match(/^WARNING.*/gm);

      expect(warnings).toEqual([expect.stringContaining('not https')]);
    },
  );

  test('answers this name and those of its machine, and no other', async () => {
    const statusOf = async (host: string) => {
      const { status } = await sendRaw(
        url,
        `GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      return status;
    };

    expect(await statusOf(publicHost)).toBe(200);
    expect(await statusOf('localhost:3000')).toBe(200);
    expect(await statusOf('attacker.example')).toBe(403);
  });

  test('takes uploads by presigned URLs of that address, and quantizes what came by them', async () => {
    const bytes = onnxFixture('digits.onnx');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const call = async (method: string, path: string) => {
      const answer = await fetch(`${url}${path}`, { method, headers: { Authorization } });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    };
    const Upload = z.object({
      upload: z.object({ url: z.string(), method: z.string(), headers: z.record(z.string(), z.string()) }),
    });

    const { upload } = Upload.parse(
      await call('POST', `/optimization/models/digits?sha256=${sha256}&size=${bytes.length}`),
    );
    const { 'content-length': _, ...headers } = upload.headers;
    const put = await fetch(upload.url, { method: upload.method, headers, body: Buffer.from(bytes) });
    await call('PUT', '/optimization/models/digits');
    const quantized = await call(
      'POST',
      '/optimization/quantize?model_name=digits&strategy=dynamic&precision=8',
    );
    const { strategy_id } = z.object({ strategy_id: z.string() }).parse(quantized);

    expect(new URL(upload.url).host).toBe(`${publicHost}:${s3Port}`);
    expect(put.status).toBe(200);
    const strategy = () => call('GET', `/optimization/quantize/strategies/${strategy_id}`);
    await expect.poll(strategy).toMatchObject({ status: expect.stringMatching(/SUCCEEDED|FAILED/) });
    expect(await strategy()).toMatchObject({ status: 'SUCCEEDED', status_reason: null });
  });

  test('sends a large file of an MLflow client on to the storage, and redirects its download to that address', async () => {
    const mlflow = async (path: string, init: RequestInit) =>
      fetch(`${url}/mlflow/api/2.0/${path}`, {
        redirect: 'manual',
        ...init,
        headers: { Authorization, ...init.headers },
      });
    const json = { headers: { 'Content-Type': 'application/json' }, method: 'POST' };
    const created = await mlflow('mlflow/runs/create', { ...json, body: '{"experiment_id":"0"}' });
    const Run = z.object({ run: z.object({ info: z.object({ artifact_uri: z.string() }) }) });
    const { artifact_uri } = Run.parse(await created.json()).run.info;
    const path = `mlflow-artifacts/artifacts${artifact_uri.slice('mlflow-artifacts:'.length)}/large.bin`;

    const put = await mlflow(path, { method: 'PUT', body: Buffer.alloc(6_000_000, 1) });
    const got = await mlflow(path, { method: 'GET' });

    expect(put.status, await put.text()).toBe(200);
    expect(got.status).toBe(302);
    const location = got.headers.get('location') ?? '';
    expect(new URL(location).host).toBe(`${publicHost}:${s3Port}`);
    expect((await (await fetch(location)).arrayBuffer()).byteLength).toBe(6_000_000);
  });

  test('serves a console that may speak to that address', async () => {
    const { headers } = await fetch(`${url}/console`);

    expect(headers.get('content-security-policy')).toContain(
      `connect-src 'self' http://${publicHost}:${s3Port}`,
    );
  });

  test.runIf(everySample)('does not start where another program has the port of the files', async () => {
    const started = await startLocalService(['--data', join(folder, 'second'), ...flags]);

    expect(started).toMatchObject({
      code: 1,
      output: expect.stringContaining(`Port ${s3Port} of the server of files is in use`),
    });
  });
});
