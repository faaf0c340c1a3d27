import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { Header, type HeaderData, Pax } from 'tar';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DiskRoom } from '../../../../../shared/archive/disk-room.ts';
import { packEnvironment } from '../../../../../shared/runner/environment/pack/pack-environment.ts';
import { sealEnvironment } from '../../../../../shared/runner/environment/pack/seal-environment.ts';
import { unpackEnvironment } from '../../../../../shared/runner/environment/pack/unpack-environment.ts';
import { removeTree } from '../../../../../shared/runner/environment/remove-tree.ts';
import { seededBytes } from '../../../../support/seeded-bytes.ts';

const stop = new AbortController().signal;
const interpreters = ['/usr/bin/python3.11'];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pack-'));
});
afterEach(() => removeTree(folder));

test('a round trip keeps content, times, links and long names, twice the same bytes', async () => {
  const from = join(folder, 'from');
  const deep = join(from, 'a'.repeat(120), 'b'.repeat(120), 'ü'.repeat(60));
  await mkdir(deep, { recursive: true });
  await writeFile(join(deep, 'module.py'), 'x = 1\n');
  await writeFile(join(from, 'big'), Buffer.alloc(3_000_001, 7));
  await writeFile(join(from, 'empty'), '');
  await writeFile(join(from, 'run'), '#!/bin/sh\n', { mode: 0o700 });
  await symlink('/usr/bin/python3.11', join(from, 'python3'));
  await symlink('python3', join(from, 'python'));
  await utimes(join(deep, 'module.py'), 1_700_000_000, 1_700_000_000);
  expect(sealEnvironment(from, { interpreters }).bytes).toBe(3_000_017);

  const files = [join(folder, '1.tar.zst'), join(folder, '2.tar.zst')];
  for (const file of files) await packEnvironment(from, file, stop);
  expect((await readFile(files[0]!)).equals(await readFile(files[1]!))).toBe(true);

  const to = join(folder, 'to');
  expect(await unpackEnvironment(files[0]!, to, { interpreters, stop })).toEqual({
    entries: 9,
    bytes: 3_000_017,
  });
  expect((await readFile(join(to, 'big'))).equals(await readFile(join(from, 'big')))).toBe(true);
  expect((await readFile(join(to, 'empty'))).length).toBe(0);
  const facts = await stat(join(to, 'a'.repeat(120), 'b'.repeat(120), 'ü'.repeat(60), 'module.py'));
  expect(facts.mtimeMs).toBe(1_700_000_000_000);
  expect((await stat(join(to, 'run'))).mode & 0o777).toBe(0o555);
  expect(await readlink(join(to, 'python3'))).toBe('/usr/bin/python3.11');
  expect(await readlink(join(to, 'python'))).toBe('python3');
});

describe('a pack of several blocks', () => {
  let file: string;
  beforeEach(async () => {
    const from = join(folder, 'from');
    await mkdir(from);
    for (const [name, content] of Object.entries(contents)) await writeFile(join(from, name), content);
    sealEnvironment(from, { interpreters });
    file = join(folder, 'pack.tar.zst');
    await packEnvironment(from, file, stop);
  });
  const contents = {
    a: seededBytes(1)(9_000_000),
    b: seededBytes(2)(9_000_000),
    c: Buffer.alloc(9_000_000, 'c'),
  };
  const unpacked = () => unpackEnvironment(file, join(folder, 'to'), { interpreters, stop });

  test('is unpacked in order', async () => {
    expect(await unpacked()).toEqual({ entries: 3, bytes: 27_000_000 });
    for (const [name, content] of Object.entries(contents)) {
      expect((await readFile(join(folder, 'to', name))).equals(content)).toBe(true);
    }
  });

  test('that is damaged or cut off anywhere is refused', async () => {
    const good = await readFile(file);
    const frame = good.readUInt32LE(8) + 12;
    const bad = [
      good.subarray(0, frame),
      good.subarray(0, frame + 5),
      good.subarray(0, frame + 100),
      good.subarray(0, good.length - 1),
      good.fill(0xff, frame, frame + 12),
    ];
    for (const bytes of bad) {
      await writeFile(file, bytes);
      await expect(unpacked()).rejects.toMatchObject({ code: 'pack-refused' });
      await removeTree(join(folder, 'to'));
    }
  });

  test('with a block that grows beyond its limit is refused', async () => {
    const bomb = zstdCompressSync(Buffer.alloc(40_000_000));
    const header = Buffer.alloc(12);
    header.writeUInt32LE(0x184d2a50, 0);
    header.writeUInt32LE(4, 4);
    header.writeUInt32LE(bomb.length, 8);
    await writeFile(file, Buffer.concat([header, bomb]));
    await expect(unpacked()).rejects.toMatchObject({ code: 'pack-refused' });
  });
});

describe('a hostile pack is refused', () => {
  const entry = (data: HeaderData & { type: HeaderData['type'] }, content = '') => {
    const block = Buffer.alloc(512);
    const size = Buffer.byteLength(content);
    new Header({ mode: 0o644, mtime: new Date(0), size, ...data } as HeaderData).encode(block, 0);
    return Buffer.concat([block, Buffer.from(content), Buffer.alloc((512 - (size % 512)) % 512)]);
  };
  const file = (path: string, content = 'x') => entry({ path, type: 'File' }, content);
  const link = (path: string, linkpath: string) => entry({ path, linkpath, type: 'SymbolicLink' });
  const end = Buffer.alloc(1024);
  const packed = async (blocks: readonly Buffer[]) => {
    const pack = join(folder, 'pack');
    await writeFile(pack, zstdCompressSync(Buffer.concat(blocks)));
    return pack;
  };
  const unpack = async (...blocks: Buffer[]) => {
    const limits = { maxEntries: 5, maxBytes: 100 };
    return unpackEnvironment(await packed(blocks), join(folder, 'out'), { interpreters, stop, ...limits });
  };

  test('an honest one of the same make is accepted', async () => {
    const blocks = [entry({ path: 'd/', type: 'Directory' }), file('d/x'), link('l', 'd/x')];
    expect(await unpack(...blocks, end)).toEqual({ entries: 3, bytes: 1 });
  });

  test.each<[string, Buffer[]]>([
    ['..', [file('../x')]],
    ['.. inside', [entry({ path: 'd/', type: 'Directory' }), file('d/../../x')]],
    ['absolute', [file('/tmp/x')]],
    ['dot', [file('./x')]],
    ['absolute by an extended header', [new Pax({ path: '/tmp/x', size: 1 }).encode(), file('x')]],
    ['through a link', [link('d', 'e'), file('d/x')]],
    ['over a link', [link('x', 'y'), file('x')]],
    ['link to outside', [link('x', '/etc/passwd')]],
    ['link up', [link('x', '../y')]],
    ['hard link', [file('a'), entry({ path: 'x', linkpath: 'a', type: 'Link' })]],
    ['device', [entry({ path: 'x', type: 'CharacterDevice' })]],
    ['pipe', [entry({ path: 'x', type: 'FIFO' })]],
    ['setuid', [entry({ path: 'x', type: 'File', mode: 0o4755 })]],
    ['setgid folder', [entry({ path: 'x/', type: 'Directory', mode: 0o2755 })]],
    ['twice', [file('x'), file('x')]],
    ['too large', [file('x', 'x'.repeat(101))]],
    ['too many', ['1', '2', '3', '4', '5', '6'].map((name) => file(name))],
    ['damaged header', [Buffer.from(file('x')).fill(1, 0, 4)]],
  ])('%s', async (_, blocks) => {
    await expect(unpack(...blocks, end)).rejects.toMatchObject({ code: 'pack-refused' });
  });

  test('for which the disk has no room, before a file of it is written', async () => {
    const pack = await packed([file('small'), file('large', 'x'.repeat(1000)), end]);
    const out = join(folder, 'out');
    const room = new DiskRoom(folder, () => 999);
    await expect(unpackEnvironment(pack, out, { interpreters, stop, room })).rejects.toMatchObject({
      code: 'disk-full',
      message:
        'The packed environment does not fit on the disk: file "large" needs 1000 bytes, but the disk has 999 free.',
    });
    expect(await readdir(out)).toEqual(['small']);
  });

  test('cut off, followed by more, or not zstd at all', async () => {
    await expect(unpack(file('x'))).rejects.toMatchObject({ code: 'pack-refused' });
    await removeTree(join(folder, 'out'));
    await expect(unpack(file('x'), end, file('y'))).rejects.toMatchObject({ code: 'pack-refused' });
    await removeTree(join(folder, 'out'));
    await writeFile(join(folder, 'pack'), 'no zstd here, only text');
    const unpacking = unpackEnvironment(join(folder, 'pack'), join(folder, 'out'), { interpreters, stop });
    await expect(unpacking).rejects.toMatchObject({ code: 'pack-refused' });
  });
});
