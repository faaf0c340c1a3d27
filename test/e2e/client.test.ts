import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypes from 'openapi-typescript';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LocalService, startLocalService } from '../support/local-service.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
/** Where the program finds what it imports. */
const modules = join(require.resolve('openapi-fetch'), '../../..');
const password = 'correct horse battery';

/** As strict as a client's project may be; `skipLibCheck` is off, so that the generated types are checked as well. */
const compilerOptions = {
  target: 'es2024',
  lib: ['esnext'],
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  allowImportingTsExtensions: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
};

let folder: string;
let service: LocalService | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-client-'));
});

afterEach(async () => {
  await service?.end('SIGTERM');
  service = undefined;
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

test('a client whose types are generated from /openapi.json compiles, and works against the service', async () => {
  const started = await startLocalService(['--data', join(folder, 'data')], { ADMIN_PASSWORD: password });
  if (!('url' in started)) throw new Error(started.output);
  service = started;
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Record<string, unknown>;

  await symlink(modules, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await writeFile(join(folder, 'schema.ts'), await openapiTypes(document as never, {}));
  await copyFile(join(import.meta.dirname, 'client/program.txt'), join(folder, 'program.ts'));

  const compiled = await run(join(modules, '.bin/tsc'), ['--project', folder]).catch(
    (error: unknown) => error,
  );
  expect(compiled).toMatchObject({ stdout: '' });
  const env = { ...process.env, SERVICE_URL: service.url, ADMIN_PASSWORD: password };
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts')], { env });
  expect(JSON.parse(stdout)).toEqual({
    names: ['Handwritten digits', 'Digits'],
    env_type: 'system',
    lists: [0, 0],
    problem: [404, '/docs#problem-not-found'],
    user: ['ada', 'viewer'],
    available: false,
    deleted: true,
  });
});
