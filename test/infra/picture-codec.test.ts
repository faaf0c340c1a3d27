import { glob, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPictureCodec } from '../../infra/aws/build/picture-codec.ts';

const root = join(import.meta.dirname, '../..');

let temporary: string;
let modules: string;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'mps-codec-'));
  await installPictureCodec(root, join(temporary, 'asset'));
  modules = join(temporary, 'asset/node_modules');
});

afterAll(() => rm(temporary, { recursive: true, force: true }));

const files = (pattern: string) => Array.fromAsync(glob(pattern, { cwd: modules }));

/** Processor that a binary is for, by its ELF header. */
async function machineOf(path: string): Promise<number> {
  const file = await open(join(modules, path));
  const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
  await file.close();
  expect(buffer.toString('latin1', 1, 4)).toBe('ELF');
  return buffer.readUInt16LE(18);
}

test('the asset holds the codec for arm64 Linux, whatever this machine is', async () => {
  const binaries = await files('**/*.{node,so.*}');
  expect(binaries.map((path) => path.replace(/\d+\.\d+\.\d+/, '…')).sort()).toEqual([
    '@img/sharp-libvips-linux-arm64/lib/libvips-cpp.so.…',
    '@img/sharp-linux-arm64/lib/sharp-linux-arm64-….node',
  ]);
  const aarch64 = 183;
  expect(await Promise.all(binaries.map(machineOf))).toEqual([aarch64, aarch64]);
});

test('it is the version that the project is locked to', async () => {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')).packages;
  for (const name of ['sharp', '@img/sharp-linux-arm64', '@img/sharp-libvips-linux-arm64']) {
    const { version } = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));
    expect(version).toBe(lock[`node_modules/${name}`].version);
  }
});

test('it holds little else: no other platform, no registry, at most 20 MB', async () => {
  expect((await files('@img/*')).sort()).toEqual([
    '@img/colour',
    '@img/sharp-libvips-linux-arm64',
    '@img/sharp-linux-arm64',
  ]);
  expect(await files('.package-lock.json')).toEqual([]);
  const sizes = await Promise.all(
    (await files('**/*.*')).map(async (path) => (await stat(join(modules, path))).size),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000_000);
});
