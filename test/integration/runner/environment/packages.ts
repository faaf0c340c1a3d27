import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
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

/** The bytes of a wheel of any package, with these files next to those about it. */
export async function wheelOf(
  name: string,
  version: string,
  files: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const info = `${name}-${version}.dist-info`;
  const all = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const zip = new ZipFile();
  for (const [path, text] of Object.entries(all)) zip.addBuffer(Buffer.from(text), path);
  const record = [...Object.keys(all), `${info}/RECORD`].map((path) => `${path},,\n`).join('');
  zip.addBuffer(Buffer.from(record), `${info}/RECORD`);
  zip.end();
  return buffer(zip.outputStream);
}

/**
 * The bytes of a source distribution that brings its own build, so that it needs no index: its module is `built_by`,
 * the number of the process that built it.
 *
 * @param fault words that end the build with an error
 * @param first words that come before everything else
 */
export async function sourceOf(name: string, version: string, fault = '', first = ''): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'source-package-'));
  const top = `${name}-${version}`;
  const backend = [
    first,
    'import os, zipfile',
    `info = "${top}.dist-info"`,
    `about = "Metadata-Version: 2.1\\nName: ${name}\\nVersion: ${version}\\n"`,
    'what = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"',
    'def prepare_metadata_for_build_wheel(folder, config_settings=None):',
    '    os.mkdir(os.path.join(folder, info))',
    '    open(os.path.join(folder, info, "METADATA"), "w").write(about)',
    '    open(os.path.join(folder, info, "WHEEL"), "w").write(what)',
    '    return info',
    'def build_wheel(folder, config_settings=None, metadata_directory=None):',
    `    ${fault}`,
    `    file = "${top}-py3-none-any.whl"`,
    '    with zipfile.ZipFile(os.path.join(folder, file), "w") as wheel:',
    `        wheel.writestr("${name}.py", f"built_by = {os.getpid()}\\n")`,
    '        wheel.writestr(info + "/METADATA", about)',
    '        wheel.writestr(info + "/WHEEL", what)',
    `        wheel.writestr(info + "/RECORD", "${name}.py,,\\n" + info + "/METADATA,,\\n" + info + "/WHEEL,,\\n")`,
    '    return file',
  ];
  try {
    await mkdir(join(folder, top));
    const project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';
    await writeFile(join(folder, top, 'pyproject.toml'), project);
    await writeFile(join(folder, top, 'backend.py'), backend.filter((line) => line.trim() !== '').join('\n'));
    const about = `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`;
    await writeFile(join(folder, top, 'PKG-INFO'), about);
    const packed = tar.create({ cwd: folder, gzip: true }, [top]);
    return await buffer(packed as unknown as AsyncIterable<Buffer>);
  } finally {
    await rm(folder, { recursive: true });
  }
}
