import { join } from 'node:path';
import type { Client } from '../../../shared/client/client.ts';
import { secondsToEnvironment } from './environment-seconds.ts';
import { figure, median } from './figure.ts';
import type { Group } from './group.ts';
import { packageEnvironments } from './package-environments.ts';
import { startService } from './service-process.ts';
import { setAside } from './set-aside.ts';
import { tinyWheel } from './tiny-wheel.ts';
import { TrainingProject } from './training-project.ts';

const repeats = 2;

async function newProject(client: Client): Promise<TrainingProject> {
  const { path, bytes } = await tinyWheel();
  return TrainingProject.create(client, {
    command: 'python train.py',
    files: { 'train.py': 'import tiny\nprint(tiny.version)\n', [path]: bytes },
    env_type: 'python',
    dependencies: `./${path}`,
  });
}

/** Seconds that the cache of environments saves: built, found on this host, and built again where it was removed. */
export const environmentCache: Group = {
  name: 'environment',
  title: 'Environment of one small wheel: built against cached',

  async measure({ folder, started, withDemo, say }) {
    const data = join(folder, 'data');
    const service = await startService(data);
    started.defer(() => service.stop());
    const { client } = await service.signIn();
    const seconds = { miss: [] as number[], here: [] as number[], again: [] as number[] };
    for (let round = 0; round < repeats; round += 1) {
      say(`run ${round + 1} of ${repeats}`);
      const project = await newProject(client);
      seconds.miss.push(await secondsToEnvironment(project, 'miss'));
      seconds.here.push(await secondsToEnvironment(project, 'hit'));
      await setAside(join(data, 'environments'), data, started);
      seconds.again.push(await secondsToEnvironment(project, 'miss'));
    }
    const miss = median(seconds.miss);
    const remark = (value: number) => `${value.toFixed(2)} s : ${miss.toFixed(2)} s`;
    const here = median(seconds.here);
    const again = median(seconds.again);
    const ofPackages = withDemo ? await packageEnvironments(client, data, say) : [];
    return [
      ...ofPackages,
      figure('Cached on this host, over built', here / miss, '×', { remark: remark(here) }),
      figure('Built again after its removal, over built', again / miss, '×', { remark: remark(again) }),
    ];
  },
};
