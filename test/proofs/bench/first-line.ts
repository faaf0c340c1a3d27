import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, median } from './figure.ts';
import type { Group } from './group.ts';
import { startService } from './service-process.ts';
import { TrainingProject } from './training-project.ts';

const repeats = 11;
const maxSeconds = 1.5;
/** Between two looks at the log. */
const pollMilliseconds = 20;
const line = 'first line';

/** Seconds from the submission until the log has the first line of the command. */
async function secondsToFirstLine(project: TrainingProject): Promise<number> {
  const begun = performance.now();
  const experiment = await project.train();
  for (;;) {
    const lines = await project.firstLines(experiment);
    if (lines.some(({ message }) => message === line)) break;
    await sleep(pollMilliseconds);
  }
  const seconds = (performance.now() - begun) / 1000;
  await project.succeeded(experiment);
  return seconds;
}

/** How long after `POST …/train` a person sees the command's first line. */
export const firstLine: Group = {
  name: 'first-line',
  title: 'From submit to first log line, env_type system',

  async measure({ folder, started }) {
    const service = await startService(join(folder, 'data'));
    started.defer(() => service.stop());
    const { client } = await service.signIn();
    const files = { 'train.py': `print(${JSON.stringify(line)})\n` };
    const project = await TrainingProject.create(client, { command: 'python3 train.py', files });
    const seconds: number[] = [];
    for (let round = 0; round < repeats; round += 1) seconds.push(await secondsToFirstLine(project));
    const remark = `${repeats} runs`;
    return [
      figure('POST train until the line is in the log, median', median(seconds), 's', {
        atMost: maxSeconds,
        remark,
      }),
      figure('The same, slowest', Math.max(...seconds), 's', { atMost: maxSeconds }),
    ];
  },
};
