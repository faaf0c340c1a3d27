import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { type Figure, figure, median } from './figure.ts';
import type { Group } from './group.ts';
import { type Memory, memoryOfTree } from './memory-of-tree.ts';
import { projectRoot, type RunningService, startService } from './service-process.ts';

const repeats = 5;
const maxReadySeconds = 3;
const maxMemoryMegabytes = 250;
/** How long after it is ready the service is looked at. */
const settleMilliseconds = 1_000;

async function secondsToBundle(folder: string): Promise<number> {
  const begun = performance.now();
  const program = join(projectRoot, 'infra/local/start/bundle.ts');
  await once(spawn(process.execPath, [program, projectRoot, folder], { stdio: 'inherit' }), 'exit');
  return (performance.now() - begun) / 1000;
}

/** Signs in, creates projects, and reads them one by one and together. */
async function useALittle(service: RunningService): Promise<void> {
  const { client } = await service.signIn();
  for (let count = 0; count < 50; count += 1) {
    const query = {
      'project-name': `Project ${count}`,
      'project-description': 'One of the bench.',
      'project-type': 'vision',
      'project-task': 'classification',
    };
    await client.call<typeof createProject>('POST /projects/', { query });
    await client.call<typeof listProjects>('GET /projects/');
  }
}

function memoryFigures(when: string, { processes, rss, pss }: Memory): Figure[] {
  const parts = processes.map(({ name, rss: own }) => `${name} ${Math.round(own)}`).join(', ');
  return [
    figure(`Resident memory of all processes, ${when}`, rss, 'MB', {
      atMost: maxMemoryMegabytes,
      remark: parts,
    }),
    figure(`The same, shared pages counted once (PSS), ${when}`, pss, 'MB'),
  ];
}

/** `npm start` itself, from the command to the line that reports it as ready. */
export const startUp: Group = {
  name: 'start-up',
  title: 'Start-up',

  async measure({ folder, started, say }) {
    const bundling = await secondsToBundle(join(folder, 'bundle'));
    const seconds: number[] = [];
    // The first one bundles what has changed, if anything has, and is not counted.
    for (let round = 0; round < repeats; round += 1) {
      const service = await startService(join(folder, `data-${round}`));
      if (round > 0) seconds.push(service.secondsToReady);
      await service.stop();
    }
    const again = await startService(join(folder, 'data-1'));
    started.defer(() => again.stop());
    say('memory');
    await sleep(settleMilliseconds);
    const idle = await memoryOfTree(again.pid);
    await useALittle(again);
    const used = await memoryOfTree(again.pid);
    return [
      figure('npm start, until it listens', median(seconds), 's', {
        atMost: maxReadySeconds,
        remark: `slowest of ${seconds.length}: ${Math.max(...seconds).toFixed(2)} s`,
      }),
      figure('The same in a folder with data', again.secondsToReady, 's', { atMost: maxReadySeconds }),
      figure('Bundling, once after a change of the sources, besides', bundling, 's'),
      ...memoryFigures('when ready', idle),
      ...memoryFigures('after 100 requests', used),
    ];
  },
};
