import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { claimJobUser } from '../../../../shared/runner/job/job-user.ts';

const isRoot = process.getuid?.() === 0;

async function hostFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-users-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'users');
}

describe.runIf(isRoot)('users of jobs, as root', () => {
  test('no two jobs of a host have the same, whatever service they belong to', async () => {
    const folder = await hostFolder();
    const claimed = await Promise.all([1, 2, 3].map(() => claimJobUser(70_000, folder)));
    const ids = claimed.map(({ user }) => user?.uid);
    expect(new Set(ids)).toEqual(new Set([70_000, 70_001, 70_002]));
    await claimed[1]?.release();
    const next = await claimJobUser(70_000, folder);
    expect(next.user?.uid).toBe(ids[1]);
  });

  test('a folder that others can write to is not trusted', async () => {
    const folder = await hostFolder();
    await mkdir(folder);
    await chmod(folder, 0o777);
    await expect(claimJobUser(70_000, folder)).rejects.toThrow('belongs to another user');
  });
});

test.skipIf(isRoot)('without root, jobs run with the rights of the service', async () => {
  expect((await claimJobUser(70_000, await hostFolder())).user).toBeUndefined();
});
