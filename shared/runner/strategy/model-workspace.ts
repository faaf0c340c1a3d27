import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../process/executable.ts';

/** The folders of one run. The stages of the engine may read `model` and `sets`, and own `work`. */
export interface ModelWorkspace {
  /** The model with its external data, and nothing else. */
  model: string;
  /** Calibration and evaluation sets. */
  sets: string;
  work: string;
  /** All of it. */
  root: string;
  remove(): Promise<void>;
}

/**
 * Create the folders of one run below `workFolder`, under a name that cannot be guessed. The job's own user may pass
 * through to its own folders, but not list; users of other jobs on the same host see nothing of it.
 */
export async function createModelWorkspace(
  workFolder: string,
  name: string,
  user: CommandUser | undefined,
): Promise<ModelWorkspace> {
  await mkdir(workFolder, { recursive: true, mode: 0o711 });
  const root = await mkdtemp(join(workFolder, `${name}-`));
  const [model, sets, work] = [join(root, 'model'), join(root, 'sets'), join(root, 'work')];
  for (const folder of [model, sets, work]) await mkdir(folder, { mode: 0o700 });
  if (user !== undefined) {
    // By the group, since what is there to be read belongs to this process, and must not be changed.
    for (const folder of [root, model, sets]) await chown(folder, 0, user.gid);
    await chmod(root, 0o710);
    for (const folder of [model, sets]) await chmod(folder, 0o750);
    await chown(work, user.uid, user.gid);
  }
  return {
    model,
    sets,
    work,
    root,
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}
