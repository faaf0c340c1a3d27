import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removePackage } from '../../../../../shared/runner/environment/wheels/link-wheel.ts';

test('removes all of a package and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'link-wheel-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = [
    'setuptools/__init__.py',
    '_distutils_hack/__init__.py',
    'distutils-precedence.pth',
    'setuptools-66.1.1.dist-info/METADATA',
    'pip/__init__.py',
    'setuptools_scm-8.0.dist-info/METADATA',
  ];
  for (const file of files) {
    await mkdir(join(folder, 'site', file, '..'), { recursive: true });
    await writeFile(join(folder, 'site', file), '');
  }
  const record = [...files.slice(0, 4), '../../../bin/easy_install'].map((file) => `${file},,`).join('\n');
  await writeFile(join(folder, 'site/setuptools-66.1.1.dist-info/RECORD'), record);
  const target = { folder, site: 'site', canLink: false, linked: new Set<string>() };

  await removePackage('setuptools', target);
  await removePackage('wheel', target);

  expect((await readdir(join(folder, 'site'))).sort()).toEqual(['pip', 'setuptools_scm-8.0.dist-info']);
});
