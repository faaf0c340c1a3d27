import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filesOpenForWriting } from '../../../shared/process/files-open-for-writing.ts';
import { testUser } from '../../support/test-users.ts';

const isRoot = process.getuid?.() === 0;
const module = join(import.meta.dirname, '../../../shared/process/files-open-for-writing.ts');
const user = testUser('files open for writing');

/** Has one file open for writing, one mapped, and two that it can only read. */
const program = `
import mmap, os, sys
os.chdir(sys.argv[1])
written, closed, mapped = open("written", "wb"), open("closed", "wb"), open("mapped", "w+b")
closed.close()
mapped.write(bytes(4096))
mapped.flush()
memory = mmap.mmap(mapped.fileno(), 0)
mapped.close()
reader = open("closed", "rb")
print(flush=True)
sys.stdin.read()
`;

describe.runIf(process.platform === 'linux')('files that processes can write to', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'writers-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function run(as?: { uid: number; gid: number }) {
    const marker = { name: 'WRITER', value: folder };
    const child = spawn('python3', ['-c', program, folder], {
      env: { PATH: process.env['PATH'], [marker.name]: marker.value },
      stdio: ['pipe', 'pipe', 'inherit'],
      ...as,
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const end = async () => {
      child.stdin.end();
      await ended;
    };
    return { marker, end };
  }
  const inode = async (name: string) => (await stat(join(folder, name), { bigint: true })).ino;

  test('are those with a descriptor for writing, and those that are mapped', async () => {
    const { marker, end } = await run();
    const found = await filesOpenForWriting({ marker }, undefined);
    const isFound = async (name: string) => found?.has(await inode(name));
    expect(await Promise.all(['written', 'mapped', 'closed'].map(isFound))).toEqual([true, true, false]);
    await end();
  });

  test.runIf(isRoot)(
    'are known to a root that may not look into processes of others, as in a container',
    async () => {
      await chown(folder, user.uid, user.gid);
      const { end } = await run(user);
      const ask = `import { filesOpenForWriting } from ${JSON.stringify(module)};
      const found = await filesOpenForWriting({ uid: ${user.uid} }, ${JSON.stringify(user)});
      const direct = await filesOpenForWriting({ uid: ${user.uid} }, undefined);
      console.log(JSON.stringify({ found: [...(found ?? [])].map(String), isHidden: direct === undefined }));`;
      const node = [process.execPath, '--input-type=module', '-e', ask];
      const { stdout } = await promisify(execFile)('setpriv', ['--bounding-set=-sys_ptrace', '--', ...node]);
      const { found, isHidden } = JSON.parse(stdout);
      expect(isHidden).toBe(true);
      const isFound = async (name: string) => found.includes(String(await inode(name)));
      expect(await Promise.all(['written', 'mapped', 'closed'].map(isFound))).toEqual([true, true, false]);
      await end();
    },
  );

  test('are unknown where nothing runs', async () => {
    expect(
      await filesOpenForWriting({ marker: { name: 'WRITER', value: folder } }, undefined),
    ).toBeUndefined();
  });
});
