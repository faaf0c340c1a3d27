import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDataFolder } from '../../../infra/local/start/data-folder.ts';
import {
  goneProjects,
  removeEnvironments,
  removeRuns,
} from '../../../infra/local/start/data-folder-cleanup.ts';
import { tryHostLock } from '../../../shared/host/host-lock.ts';
import { EnvironmentFolder } from '../../../shared/runner/environment/environment-folder.ts';

const kept = '01m7zd37c8fvxfhbyjhxbvgrzb';
const gone = '01m7zd37c8ehm933t8h6rtmjze';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-cleanup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function environment(project_id: string): Promise<EnvironmentFolder> {
  const one = new EnvironmentFolder(join(folder, project_id), 'a'.repeat(64));
  await mkdir(join(one.folder, 'lib'), { recursive: true });
  await writeFile(join(one.folder, 'lib/module.py'), 'pass');
  await one.complete({ key: 'a'.repeat(64), lockHash: 'l', buildSeconds: 1, bytes: 4 });
  return one;
}

const records = {
  batchGet: async (keys: readonly { pk: string; sk: string }[]) =>
    keys.map((key) => (key.sk === kept ? key : undefined)),
};

describe('what killed attempts and deleted projects have left', () => {
  test('the folders of earlier runs go, also those that deny it, and no others', async () => {
    await mkdir(join(folder, 'old/closed'), { recursive: true });
    await writeFile(join(folder, 'old/closed/file'), 'x');
    await mkdir(join(folder, 'new'));
    await removeRuns(folder, ['old', 'missing']);
    expect([existsSync(join(folder, 'old')), existsSync(join(folder, 'new'))]).toEqual([false, true]);
  });

  test('environments go with their project', async () => {
    await environment(kept);
    await environment(gone);
    expect(await goneProjects(records, folder)).toEqual([gone]);
    expect(await removeEnvironments(folder, gone)).toBe(true);
    expect([existsSync(join(folder, gone)), existsSync(join(folder, kept))]).toEqual([false, true]);
    expect(await goneProjects(records, folder)).toEqual([]);
  });

  test('one that is used or prepared stays until it is not', async () => {
    const used = await environment(gone);
    const lock = await tryHostLock(used.folder);
    expect(await removeEnvironments(folder, gone)).toBe(false);
    expect(await used.read()).not.toBeNull();
    await lock?.release();
    await used.use();
    expect(await removeEnvironments(folder, gone)).toBe(false);
    await rm(used.folder, { recursive: true });
    expect(existsSync(join(folder, gone))).toBe(true);
  });

  test('what a kill in the middle of a removal has left goes the next time', async () => {
    const half = await environment(gone);
    await rm(`${half.folder}.complete`);
    expect(await goneProjects(records, folder)).toEqual([gone]);
    expect(await removeEnvironments(folder, gone)).toBe(true);
    expect(existsSync(join(folder, gone))).toBe(false);
  });
});

describe('npm run clean', () => {
  const clean = (...flags: string[]): Promise<{ code: number; out: string; error: string }> =>
    new Promise((resolve) => {
      const program = join(import.meta.dirname, '../../../infra/local/start/clean.ts');
      const child = execFile(process.execPath, [program, ...flags], (_, out, error) =>
        resolve({ code: child.exitCode ?? -1, out, error }),
      );
    });

  test('lists the caches with their sizes, empties them, and refuses while a service runs', async () => {
    const data = await openDataFolder(folder);
    const busy = await clean('--data', folder);
    expect(busy).toMatchObject({ code: 1, error: expect.stringContaining('is in use by another service') });
    data.release();
    const listed = await clean('--data', folder, '--list');
    expect(listed).toMatchObject({ code: 0, out: expect.stringMatching(/0 B {2}in all/) });
    const emptied = await clean('--data', folder);
    expect(emptied).toMatchObject({ code: 0, out: expect.stringMatching(/0 B {2}freed/) });
    expect(await clean('--data', join(folder, 'nowhere'))).toMatchObject({ code: 1 });
  });
});
