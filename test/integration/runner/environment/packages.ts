import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as tar from 'tar';
import { ZipFile } from 'yazl';

/** A wheel is a zip with the package and three files about it. */
export async function writeWheel(file: string, version: string): Promise<void> {
  const info = `tiny-${version}.dist-info`;
  const zip = new ZipFile();
  const add = (name: string, text: string) => zip.addBuffer(Buffer.from(text), name);
  add('tiny/__init__.py', `version = '${version}'\n`);
  add(`${info}/METADATA`, `Metadata-Version: 2.1\nName: tiny\nVersion: ${version}\n`);
  add(`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  add(`${info}/RECORD`, `tiny/__init__.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`);
  zip.end();
  await mkdir(dirname(file), { recursive: true });
  await pipeline(zip.outputStream, createWriteStream(file));
}

/** An npm package with one program and one install script, which leaves a file. */
export async function writeNpmPackage(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'npm-package-'));
  try {
    const described = {
      name: 'tiny',
      version: '1.2.3',
      bin: { tiny: 'cli.js' },
      scripts: { install: 'node install.js' },
    };
    await mkdir(join(folder, 'package'));
    await writeFile(join(folder, 'package', 'package.json'), JSON.stringify(described));
    await writeFile(join(folder, 'package', 'index.js'), 'exports.answer = 42;\n');
    await writeFile(join(folder, 'package', 'cli.js'), '#!/usr/bin/env node\nconsole.log(42);\n');
    await writeFile(
      join(folder, 'package', 'install.js'),
      "require('fs').writeFileSync('installed', 'yes');\n",
    );
    await mkdir(dirname(file), { recursive: true });
    await tar.create({ cwd: folder, file, gzip: true }, ['package']);
  } finally {
    await rm(folder, { recursive: true });
  }
}
