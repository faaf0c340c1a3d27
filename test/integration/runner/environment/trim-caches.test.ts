import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HostLock, tryHostLock } from '../../../../shared/host/host-lock.ts';
import { EnvironmentFolder } from '../../../../shared/runner/environment/environment-folder.ts';
import { wheelsFolder, withWheels } from '../../../../shared/runner/environment/host-wheels.ts';
import { trimCaches } from '../../../../shared/runner/environment/trim-caches.ts';
import { everySample } from '../../../support/samples.ts';
import fc from '../../../support/seeded-fast-check.ts';

const hour = 60 * 60 * 1000;
/** Bytes of the file of an environment. Folders take further blocks of 4 KiB. */
const fileBytes = 1_000_000;
const limit = 3 * fileBytes + 100_000;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'trim-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const keyOf = (number: number): string => String(number).repeat(64);

/** An environment that was used `at`; its file is that of `from` if given. */
async function makeEnvironment(project: string, number: number, at: number, from?: EnvironmentFolder) {
  const made = new EnvironmentFolder(join(root, project), keyOf(number));
  await mkdir(made.folder, { recursive: true });
  if (from === undefined) await writeFile(join(made.folder, 'file'), Buffer.alloc(fileBytes, number));
  else await link(join(from.folder, 'file'), join(made.folder, 'file'));
  await made.complete({ key: keyOf(number), lockHash: '', buildSeconds: 1, bytes: fileBytes });
  await usedAt(made, at);
  return made;
}

const usedAt = ({ folder }: EnvironmentFolder, at: number) =>
  utimes(`${folder}.complete`, new Date(at), new Date(at));

const isThere = async (one: EnvironmentFolder): Promise<boolean> => (await one.read()) !== null;

describe('the caches of a host', () => {
  test('lose what was unused for longest, and nothing below the limit', async () => {
    const now = Date.now();
    const made = [];
    for (const age of [3, 5, 1, 4]) made.push(await makeEnvironment('p1', age, now - age * hour));

    expect(await trimCaches(root, 4 * fileBytes + 100_000)).toMatchObject({ removed: 0 });
    const trimmed = await trimCaches(root, 2 * fileBytes + 100_000);

    expect(trimmed.removed).toBe(2);
    expect(trimmed.bytes).toBeLessThan(2 * fileBytes + 100_000);
    expect(await Promise.all(made.map(isThere))).toEqual([true, false, true, false]);
  });

  test('count a file with several names once', async () => {
    const now = Date.now();
    const first = await makeEnvironment('p1', 1, now - hour);
    for (const number of [2, 3, 4, 5]) await makeEnvironment('p2', number, now - number * hour, first);

    expect((await trimCaches(root, 2 * fileBytes)).removed).toBe(0);
  });

  test('are measured exactly for those who ask, once after each build', async () => {
    const wheel = await makeEnvironment('p0', 1, Date.now());
    await makeEnvironment('p1', 2, Date.now(), wheel);
    const measure = () => trimCaches(root, 1e9, { isExact: true });

    expect((await trimCaches(root, 1e9)).bytes).toBe(2 * fileBytes);
    const once = await measure();
    expect(once.bytes).toBeLessThan(1.1 * fileBytes);
    await writeFile(join(wheel.folder, 'later'), Buffer.alloc(fileBytes));
    expect(await measure()).toEqual(once);
    await makeEnvironment('p1', 3, Date.now());
    expect((await measure()).bytes).toBeGreaterThan(3 * fileBytes);
  });

  test('lose what projects shared before a build was shared by all that could change it', async () => {
    const made = await Promise.all(
      ['.wheels', '.shared', '.wheels-2', '.shared-2', 'p1'].map((name) =>
        makeEnvironment(name, 1, Date.now()),
      ),
    );

    await trimCaches(root, 6 * limit);

    expect(await Promise.all(made.map(isThere))).toEqual([false, false, false, false, true]);
  });

  test('keep wheels and downloads for ten minutes after their use', async () => {
    const now = Date.now();
    const archives = join(root, wheelsFolder, 'archive-v0');
    for (const folder of [archives, join(root, '.downloads')])
      for (const [name, at] of [
        ['old', now - hour],
        ['new', now],
      ] as const) {
        const path = join(folder, name);
        await mkdir(folder === archives ? path : folder, { recursive: true });
        await writeFile(folder === archives ? join(path, 'file') : path, Buffer.alloc(fileBytes));
        await utimes(path, new Date(at), new Date(at));
      }

    await trimCaches(root, 1000);

    expect(await readdir(archives)).toEqual(['new']);
    expect(await readdir(join(root, '.downloads'))).toEqual(['new']);
  });

  test('keep all wheels while an installation uses them', async () => {
    const wheel = join(root, wheelsFolder, 'archive-v0', 'old');
    await mkdir(wheel, { recursive: true });
    await utimes(wheel, new Date(0), new Date(0));

    await withWheels(join(root, wheelsFolder), () => trimCaches(root, 0));

    expect(existsSync(wheel)).toBe(true);
    await trimCaches(root, 0);
    expect(existsSync(wheel)).toBe(false);
  });

  test('lose folders that lie deeper than a path may be long', async () => {
    const left = join(root, 'p1', keyOf(1));
    await mkdir(left, { recursive: true });
    const name = 'd'.repeat(200);
    const make = `i=0; while [ $i -lt 30 ]; do mkdir ${name}; cd ./${name}; i=$((i+1)); done`;
    execFileSync('sh', ['-c', make], { cwd: left });

    await trimCaches(root, 0);

    expect(existsSync(left)).toBe(false);
  });

  test('lose nothing in use, and stay below their limit, in any order of use, removal and crash', async () => {
    const number = fc.integer({ min: 1, max: 7 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('make' as const), number }),
      fc.record({ do: fc.constant('use' as const), number }),
      fc.record({ do: fc.constant('release' as const), number }),
      fc.record({ do: fc.constant('lock' as const), number }),
      fc.record({ do: fc.constant('crash' as const), number, kept: fc.boolean() }),
      fc.record({ do: fc.constant('trim' as const), number }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await rm(root, { recursive: true, force: true });
        await mkdir(root);
        const made = new Map<number, EnvironmentFolder>();
        const used = new Set<number>();
        const last = new Map<number, number>();
        const locks = new Map<number, HostLock>();
        let clock = Date.now() - 100 * hour;
        for (const one of steps) {
          clock += hour;
          const folder = made.get(one.number);
          const isComplete = folder !== undefined && (await isThere(folder));
          if (one.do === 'make' && !isComplete && !locks.has(one.number)) {
            if (folder !== undefined) await folder.wipe();
            made.set(one.number, await makeEnvironment(`p${one.number % 2}`, one.number, clock));
            last.set(one.number, clock);
          } else if (one.do === 'use' && isComplete) {
            await folder.use();
            await usedAt(folder, clock);
            last.set(one.number, clock);
            used.add(one.number);
          } else if (one.do === 'release' && folder !== undefined) {
            await locks.get(one.number)?.release();
            locks.delete(one.number);
            used.delete(one.number);
            // As when its processes have ended.
            const names = await readdir(join(folder.folder, '..'));
            for (const name of names.filter((text) => text.startsWith(`${keyOf(one.number)}.use-`)))
              await rm(join(folder.folder, '..', name));
          } else if (one.do === 'lock' && folder !== undefined && !locks.has(one.number)) {
            const lock = await tryHostLock(folder.folder);
            if (lock !== null) locks.set(one.number, lock);
          } else if (one.do === 'crash' && isComplete && !used.has(one.number) && !locks.has(one.number)) {
            // A removal that was killed after its marker, or a build before it.
            await rm(`${folder.folder}.complete`);
            if (!one.kept) await rm(join(folder.folder, 'file'));
          } else if (one.do === 'trim') {
            const before = new Map<number, boolean>();
            for (const [number, each] of made) before.set(number, await isThere(each));

            await trimCaches(root, limit);

            const isHeld = (number: number) => used.has(number) || locks.has(number);
            const kept: number[] = [];
            for (const [number, each] of made) {
              const isKept = await isThere(each);
              if (isKept) kept.push(number);
              if (isHeld(number)) expect(isKept).toBe(before.get(number));
              // Nothing is left of what is not complete, unless somebody is working on it.
              else if (!isKept) expect(existsSync(each.folder)).toBe(false);
              else expect(existsSync(join(each.folder, 'file'))).toBe(true);
            }
            const free = kept.filter((number) => !isHeld(number));
            if (free.length > 0) expect(kept.length).toBeLessThanOrEqual(3);
            const removed = [...before].flatMap(([number, was]) =>
              was && !kept.includes(number) ? [number] : [],
            );
            for (const gone of removed)
              for (const stays of free) expect(last.get(gone)).toBeLessThan(last.get(stays) ?? 0);
          }
        }
        for (const lock of locks.values()) await lock.release();
      }),
      { numRuns: everySample ? 60 : 12 },
    );
  });
});
