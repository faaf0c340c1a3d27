import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localPythons } from '../../../../../infra/local/start/local-pythons.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-pythons-'));
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function fakePython(path: string, version: string): Promise<void> {
  const answer = { implementation: 'cpython', version, executable: '/usr/bin/python3', venv: true };
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 });
}

test('the versions of Python are those of the search path, then all that pyenv has', async () => {
  await fakePython('shims/python3', '3.11.7');
  await fakePython('shims/python3.11', '3.11.7');
  await fakePython('bin/python3.12', '3.12.1');
  for (const version of ['3.9.18', '3.10.13', '3.11.7'])
    await fakePython(`versions/${version}/bin/python3`, version);
  await fakePython('versions/2.7.18/bin/python3', '2.7.18');

  const found = await localPythons({ PATH: `${folder}/shims:${folder}/bin` });

  expect(found).toBe('3.11.7,3.12.1,3.10.13,3.9.18');
});

test('those that uv can download follow, without pre-releases', async () => {
  await fakePython('bin/python3', '3.11.7');
  const listed = ['3.16.0a2', '3.9.25', '3.14.10', '3.11.7'].map((version) => ({
    version,
    implementation: 'cpython',
    url: 'https://python.example/',
  }));
  await writeFile(
    join(folder, 'bin/uv'),
    `#!/bin/sh\ncase "$*" in *--no-cache*) echo '${JSON.stringify(listed)}' ;; esac\n`,
    { mode: 0o755 },
  );

  const [found, forbidden] = await Promise.all([
    localPythons({ PATH: join(folder, 'bin') }),
    localPythons({ PATH: join(folder, 'bin'), UV_PYTHON_DOWNLOADS: 'never' }),
  ]);

  expect(found).toBe('3.11.7,3.14.10,3.9.25');
  expect(forbidden).toBe('3.11.7');
});

test('without an interpreter there is none', async () => {
  expect(await localPythons({ PATH: folder })).toBe('');
});
