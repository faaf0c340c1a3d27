import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Start } from '../kill/apart.ts';
import { startLane } from '../kill/lane.ts';
import { startStores } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import { liveUpgrade, type UpgradeLane, type UpgradeLife, type UpgradeLifeAsked } from './upgrade-life.ts';

export interface UpgradeLaneGiven {
  folder: string;
  /** The present version's. */
  program: Program;
  /** Another version's; unless given, the present version's writes the format of the former one. */
  former?: Program;
}

/** A lane with engines of its own, in which one upgrade after the other is lived. */
export const startUpgradeLane: Start<UpgradeLaneGiven, UpgradeLifeAsked, UpgradeLife> = async (
  started,
  { folder, program, former },
) => {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const chosen = join(folder, 'program');
  const script = join(folder, 'container.sh');
  await writeFile(script, `exec '${process.execPath}' "$(cat '${chosen}')" container\n`);
  const engines = await startStores(started, join(folder, 'engines'));
  const lane = await startLane(started, { folder, engines, program, command: ['/bin/sh', script] });
  const upgradeLane: UpgradeLane = {
    ...lane,
    former: former ?? program,
    present: program,
    isOneVersion: former === undefined,
    async use({ file }) {
      await writeFile(`${chosen}.next`, file);
      await rename(`${chosen}.next`, chosen);
    },
  };
  return (asked) => liveUpgrade(upgradeLane, asked);
};
