import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requireRoom } from '../../../infra/local/free-room.ts';
import { DiskReserve } from '../../../infra/local/start/disk-reserve.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;

describe.runIf(process.getuid?.() === 0)('a disk of 16 MB', () => {
  let folder: string;
  let reserve: DiskReserve;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'full-disk-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]);
    reserve = new DiskReserve(folder, join(folder, 'reserve'));
  });
  afterEach(async () => {
    await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });

  /** Write until there is no room, but for some bytes. */
  async function fill(left: number): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    await writeFile(join(folder, 'data'), Buffer.alloc(bavail * bsize - left));
  }

  test('has an eighth in reserve, really allocated', async () => {
    await reserve.check();
    expect(reserve.isFull).toBe(false);
    const { size, blocks } = await stat(join(folder, 'reserve'));
    expect(size).toBe(2 * megabyte);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  });

  test('gives it away when it is nearly full, and takes it again when there is room', async () => {
    await reserve.check();
    await fill(100_000);
    await reserve.check();
    expect(reserve.isFull).toBe(true);
    await expect(stat(join(folder, 'reserve'))).rejects.toThrow('ENOENT');
    await reserve.check();
    expect(reserve.isFull).toBe(true);
    await rm(join(folder, 'data'));
    await reserve.check();
    expect(reserve.isFull).toBe(false);
  });

  test('takes no more objects before the room for deletes is used up', async () => {
    await expect(requireRoom(folder)).resolves.toBeUndefined();
    await fill(0.9 * megabyte);
    await expect(requireRoom(folder)).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});
