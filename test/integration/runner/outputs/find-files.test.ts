import { execFileSync } from 'node:child_process';
import { chmod, chown, link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileRefusedError } from '../../../../shared/runner/host/growing-file.ts';
import {
  type FindFilesOptions,
  type FoundFile,
  findFiles,
} from '../../../../shared/runner/outputs/find-files.ts';

const isRoot = process.getuid?.() === 0;
const jobUser = 54_321;

describe('files of a folder', () => {
  let base: string;
  let folder: string;
  let refusals: Record<string, string>;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'find-files-'));
    folder = join(base, 'output');
    refusals = {};
    await mkdir(folder);
    await writeFile(join(base, 'secret'), 'secret');
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const find = (options: Partial<FindFilesOptions> = {}) =>
    findFiles(folder, {
      refused: (path, why) => {
        refusals[path] = why;
      },
      maxFiles: 100,
      maxDepth: 5,
      maxPathBytes: 300,
      ...options,
    });

  async function read(found: FoundFile): Promise<string> {
    const handle = await found.open();
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  async function all(options: Partial<FindFilesOptions> = {}): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for await (const found of find(options)) files[found.path] = await read(found);
    return files;
  }

  const put = (path: string, text = path) => writeFile(join(folder, path), text);

  test('are found at any depth, whatever their names', async () => {
    await mkdir(join(folder, 'a/b/c'), { recursive: true });
    await mkdir(join(folder, 'empty'));
    for (const name of [
      'top',
      '.hidden',
      'a/one',
      'a/b/c/deep',
      'a/naïve – 日本語',
      'a/with\nfeed',
      'a/back\\slash',
    ])
      await put(name);
    const files = await all();
    expect(Object.keys(files).sort()).toEqual(
      ['top', '.hidden', 'a/one', 'a/b/c/deep', 'a/naïve – 日本語', 'a/with\nfeed', 'a/back\\slash'].sort(),
    );
    expect(files['a/b/c/deep']).toBe('a/b/c/deep');
    expect(refusals).toEqual({});
  });

  test('are no links, pipes or sockets', async () => {
    await symlink('../secret', join(folder, 'file-link'));
    await symlink('..', join(folder, 'folder-link'));
    await symlink('nowhere', join(folder, 'dangling'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const server = createServer().listen(join(folder, 'socket'));
    await put('good');
    expect(await all()).toEqual({ good: 'good' });
    server.close();
    expect(refusals).toEqual({
      'file-link': 'it is a link',
      'folder-link': 'it is a link',
      dangling: 'it is a link',
      pipe: 'it is not a regular file',
      socket: 'it is not a regular file',
    });
  });

  test.runIf(isRoot)("are not somebody else's, nor devices", async () => {
    await link(join(base, 'secret'), join(folder, 'hard-link'));
    execFileSync('mknod', [join(folder, 'null'), 'c', '1', '3']);
    await put('own');
    await chown(join(folder, 'own'), jobUser, jobUser);
    expect(await all({ user: { uid: jobUser } })).toEqual({ own: 'own' });
    expect(refusals).toEqual({
      'hard-link': 'it belongs to another user',
      null: 'it is not a regular file',
    });
  });

  test.skipIf(isRoot)('are left out when they cannot be read', async () => {
    await put('closed');
    await chmod(join(folder, 'closed'), 0);
    await mkdir(join(folder, 'closed-folder'), { mode: 0 });
    const opened: unknown[] = [];
    for await (const found of find()) opened.push(await found.open().catch((error: unknown) => error));
    expect(opened).toEqual([new FileRefusedError('it cannot be read')]);
    expect(refusals).toEqual({ 'closed-folder': 'it cannot be read' });
  });

  test('are not followed when one is swapped for a link before it is opened', async () => {
    await put('file');
    for await (const found of find()) {
      await rm(join(folder, 'file'));
      await symlink('../secret', join(folder, 'file'));
      await expect(found.open()).rejects.toThrow(new FileRefusedError('it is a link'));
    }
    expect.assertions(1);
  });

  test('are those of the folder that was entered, when it is swapped for a link on the way', async () => {
    await mkdir(join(folder, 'sub'));
    for (const name of ['sub/a', 'sub/b']) await put(name);
    await mkdir(join(base, 'other'));
    for (const name of ['a', 'b']) await writeFile(join(base, 'other', name), 'stolen');
    const files: string[] = [];
    for await (const found of find()) {
      if (files.length === 0) {
        await rename(join(folder, 'sub'), join(base, 'moved'));
        await symlink('../other', join(folder, 'sub'));
      }
      files.push(await read(found));
    }
    expect(files.sort()).toEqual(['sub/a', 'sub/b']);
  });

  test('cannot be opened once the walk has gone on', async () => {
    await put('a');
    await put('b');
    const found: FoundFile[] = [];
    for await (const file of find()) found.push(file);
    await expect(Promise.all(found.map((file) => file.open()))).rejects.toThrow('opened too late');
  });

  test('may vanish at any moment', async () => {
    await mkdir(join(folder, 'sub'));
    for (const name of ['a', 'b', 'c', 'sub/d']) await put(name);
    let seen = 0;
    for await (const _ of find()) {
      seen += 1;
      await rm(folder, { recursive: true, force: true });
    }
    expect(seen).toBeLessThan(5);
    expect(refusals).toEqual({});
  });

  test('are bounded in depth, path and names', async () => {
    await mkdir(join(folder, '1/2/3/4/5/6'), { recursive: true });
    await put('1/2/3/4/5/deepest');
    await put('1/2/3/4/5/6/deeper');
    await put('x'.repeat(250));
    await mkdir(join(folder, 'y'.repeat(200)));
    await put(`${'y'.repeat(200)}/${'z'.repeat(100)}`);
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), '');
    expect(Object.keys(await all()).sort()).toEqual(['1/2/3/4/5/deepest', 'x'.repeat(250)]);
    expect(refusals).toEqual({
      '1/2/3/4/5/6': 'it is more than 5 folders deep',
      [`${'y'.repeat(200)}/${'z'.repeat(100)}`]: 'its path is longer than 300 bytes',
      'a\ufffd': 'its name is not UTF-8',
    });
  });

  test('are bounded in number, and so is all else', async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
    expect(Object.keys(await all({ maxFiles: 2 }))).toHaveLength(2);
    expect(refusals).toEqual({ '': 'it contains more than 2 files' });
    for (let index = 0; index < 10; index += 1) await mkdir(join(folder, `folder-${index}`));
    await all({ maxFiles: 4 });
    expect(refusals).toEqual({ '': 'it contains more than 8 entries' });
  });

  test('of a very deep tree are not walked', async () => {
    let path = folder;
    for (let depth = 0; depth < 300; depth += 1) path = join(path, 'd');
    await mkdir(path, { recursive: true });
    expect(await all({ maxDepth: 64 })).toEqual({});
    expect(Object.values(refusals)).toEqual(['it is more than 64 folders deep']);
  });
});
