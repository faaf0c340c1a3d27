import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WheelStore, wheelsFolder } from '../../../../../shared/runner/environment/wheels/wheel-store.ts';
import { wheelOf } from '../packages.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wheel-store-'));
  await mkdir(join(folder, 'root'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const sha256 = 'a'.repeat(64);

/** Keep a wheel with these files under a name. */
async function kept(name: string, wheel: Promise<Buffer | Uint8Array>) {
  const file = join(folder, `${name}.whl`);
  await writeFile(file, await wheel);
  const store = new WheelStore(join(folder, 'root'), ['python'], 'reach');
  const [found] = await store.keep(
    [{ name, version: '1.0', sha256, isBuilt: true, file }],
    join(folder, `scratch-${name}`),
    async () => undefined,
  );
  return { tree: found?.tree ?? '', known: await store.known() };
}

test('a wheel that says to be built from the source of another package is none of that package', async () => {
  await kept('evil', wheelOf('evil', '1.0', { 'made.py': 'value = "evil"' }));

  const { tree } = await kept('made', wheelOf('made', '1.0', { 'made.py': 'value = "made"' }));

  expect(await readFile(join(tree, 'made.py'), 'utf8')).toBe('value = "made"');
});

test('a wheel that states another package, or a second one, is not kept', async () => {
  const second = { 'beta-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: beta\nVersion: 1.0\n' };

  await expect(kept('evil', wheelOf('beta', '1.0', {}))).rejects.toThrow(
    'evil 1.0 states beta-1.0.dist-info',
  );
  await expect(kept('other', wheelOf('other', '1.0', second))).rejects.toThrow(
    'states beta-1.0.dist-info, other-1.0',
  );
  expect(await readdir(join(folder, 'root', wheelsFolder))).toEqual([]);
});
