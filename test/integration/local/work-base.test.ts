import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeForsaken, workBase } from '../../../infra/local/start/job-folders.ts';

// Only where the service runs as root do its jobs work elsewhere.
describe.skipIf(process.getuid?.() !== 0)('the folder in which jobs of a closed data folder work', () => {
  let scratch: string;
  let parent: string;
  beforeEach(async () => {
    scratch = await realpath(await mkdtemp(join(tmpdir(), 'work-base-')));
    parent = join(scratch, 'var');
    await mkdir(parent);
  });
  afterEach(() => rm(scratch, { recursive: true, force: true }));

  test('goes with its data folder, and no other does', async () => {
    const kept = join(scratch, 'kept');
    const gone = join(scratch, 'gone');
    await mkdir(kept);
    const keptBase = await workBase(kept, parent);
    const goneBase = await workBase(gone, parent);
    expect(await workBase(kept, parent)).toBe(keptBase);
    await mkdir(join(goneBase, 'environments/one'), { recursive: true, mode: 0o555 });
    // Of an older release, of another program, and one that names a data folder that is not its own.
    await mkdir(join(parent, 'model-project-service-0123456789ab'));
    await mkdir(join(parent, 'other'));
    const strange = join(parent, 'model-project-service-ba9876543210');
    await mkdir(strange);
    await writeFile(join(strange, 'data-folder'), gone);

    const before = await readdir(parent);
    await removeForsaken(parent);
    const left = before.filter((name) => join(parent, name) !== goneBase);
    expect(left).toHaveLength(before.length - 1);
    expect(await readdir(parent)).toEqual(left);
    expect(await readdir(keptBase)).toContain('data-folder');
  });
});
