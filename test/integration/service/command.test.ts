import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { list } from 'tar';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as readCommand } from '../../../functions/service/read-command.endpoint.ts';
import { endpoint as readProjectFileSchema } from '../../../functions/service/read-project-file-schema.endpoint.ts';
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const service = await testService();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-served-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const file = (name: string, headers: Record<string, string> = {}) =>
  service.call(readCommand, { path: { file: name }, headers });

describe('the served command', () => {
  test('is one file of less than a megabyte, without a function of the service', async () => {
    const { status, headers, bytes, text } = await file('mps.mjs');
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(bytes.length).toBeLessThan(1_000_000);
    // A client of AWS, the table, or the binding of ONNX Runtime would be code of the service.
    for (const foreign of ['@aws-sdk', 'DynamoDB', 'onnxruntime_binding', 'hashPassword'])
      expect(text.includes(foreign), foreign).toBe(false);
    const packed = await file('mps.mjs', { 'Accept-Encoding': 'gzip' });
    expect(gunzipSync(packed.bytes)).toEqual(bytes);
    const again = await file('mps.mjs', { 'If-None-Match': headers['etag'] ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('is a package that npm installs from the address alone, into an empty prefix', async () => {
    const { bytes } = await file('mps.tgz');
    const archive = join(folder, 'mps.tgz');
    await writeFile(archive, bytes);
    const names: string[] = [];
    await list({ file: archive, onReadEntry: ({ path }) => names.push(path) });
    // Each command has a part of its own.
    const isPart = (name: string) => /-[A-Z0-9]{8}\.mjs$/.test(name);
    expect(names.filter(isPart).length).toBeGreaterThan(50);
    expect(names.filter((name) => !isPart(name))).toEqual([
      'package/package.json',
      'package/mps.mjs',
      // Libraries of single commands: Neptune's exports are Parquet.
      ...['parquet', 'images', 'mcp'].map((name) => `package/${name}.mjs`),
      // The engine of mps measure.
      'package/engine/main.js',
      'package/engine/stage.js',
      // The readers of mps import.
      ...['aim_repository', 'clearml_sessions', 'comet_archives', 'mlflow_database', 'read', 'source'].map(
        (name) => `package/python/${name}.py`,
      ),
      'package/python/sqlite_file.py',
      'package/python/trackio_folder.py',
    ]);

    const server = createServer((_, response) => response.end(bytes)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const prefix = join(folder, 'prefix');
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, npm_config_update_notifier: 'false' };
    const args = ['install', '--global', '--offline=false', '--prefix', prefix, '--no-audit', '--no-fund'];
    await execute('npm', [...args, `http://127.0.0.1:${port}/cli/mps.tgz`], { env, cwd: folder });
    server.close();
    expect(
      (await stat(join(prefix, 'lib/node_modules/model-project-service-cli/mps.mjs'))).size,
    ).toBeGreaterThan(1);
    const { stdout } = await execute(join(prefix, 'bin/mps'), ['--version'], { env, cwd: folder });
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
    // The library that runs models is large, and native: whoever measures installs it.
    const digits = join(root, 'test/fixtures/onnx/digits.onnx');
    const measure = () =>
      execute(join(prefix, 'bin/mps'), ['measure', digits, '--seconds', '0.1', '--json'], {
        env,
        cwd: folder,
      });
    await expect(measure()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm install --prefix '),
    });
    await symlink(
      join(root, 'node_modules/onnxruntime-node'),
      join(prefix, 'lib/node_modules/onnxruntime-node'),
    );
    expect(JSON.parse((await measure()).stdout)).toMatchObject({
      passed: true,
      file: { file: 'digits.onnx' },
    });
  });

  test.runIf(everySample)(
    'is that of a checkout by npx with its path, in any folder, though no registry answers',
    async () => {
      const env = {
        PATH: process.env['PATH'] ?? '',
        ...{ HOME: folder, npm_config_update_notifier: 'false', npm_config_registry: 'http://127.0.0.1:9' },
      };
      const { stdout } = await execute('npx', ['--prefix', root, 'mps', '--version'], { env, cwd: folder });
      expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
      // It reads what lies in the folder of the person, not in the checkout.
      await writeFile(join(folder, 'mine.yaml'), 'epochs: 5\n');
      const away = { ...env, MPS_URL: 'http://127.0.0.1:9', MPS_TOKEN: 'a.b' };
      const pushed = (name: string) =>
        execute('npx', ['--prefix', root, 'mps', 'config', 'push', name], { env: away, cwd: folder });
      await expect(pushed('mine.yaml')).rejects.toMatchObject({ code: 3 });
      await expect(pushed('package.json')).rejects.toMatchObject({ code: 2 });
    },
  );

  test('of another name is refused', async () => {
    const { status, json } = await file('mps.exe');
    expect([status, json.detail]).toEqual([400, expect.stringContaining('mps.mjs, mps.tgz')]);
  });
});

test('the schema of mps.yaml allows what the command knows, and nothing else', async () => {
  const { status, json } = await service.call(readProjectFileSchema);
  expect(status).toBe(200);
  expect(json).toMatchObject({ type: 'object', additionalProperties: false, title: 'mps.yaml' });
  expect(Object.keys(json.properties)).toEqual(expect.arrayContaining(['project', 'command', 'environment']));
  expect(json.properties.environment.properties.type.enum).toContain('python');
  for (const property of Object.values<{ description?: string; properties?: object }>(json.properties))
    expect(property.description ?? property.properties).toBeDefined();
});
