import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../executable.ts';

/** The folders of one run. The stages of the engine may read `model` and `sets`, and own `work`. */
export interface ModelWorkspace {
  /** The model with its external data, and nothing else. */
  model: string;
  /** Calibration and evaluation sets. */
  sets: string;
  work: string;
  remove(): Promise<void>;
}

/** Makes the folders of one run below `workFolder`, under a name that nobody can have prepared. */
export async function createModelWorkspace(
  workFolder: string,
  name: string,
  user: CommandUser | undefined,
): Promise<ModelWorkspace> {
  await mkdir(workFolder, { recursive: true, mode: 0o711 });
  const root = await mkdtemp(join(workFolder, `${name}-`));
  // Others may pass through, to reach what is theirs, but not list.
  await chmod(root, 0o711);
  const [model, sets, work] = [join(root, 'model'), join(root, 'sets'), join(root, 'work')];
  for (const folder of [model, sets]) await mkdir(folder, { mode: 0o755 });
  await mkdir(work, { mode: 0o700 });
  if (user !== undefined) await chown(work, user.uid, user.gid);
  return {
    model,
    sets,
    work,
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}
