import { join } from 'node:path';
import { figure, median } from './figure.ts';
import type { Group } from './group.ts';
import { startService } from './service-process.ts';
import { TimedCommand } from './timed-command.ts';

const repeats = 5;
const pollMilliseconds = 20;

/** About a second of arithmetic, and a line now and then. */
const work = `total = 0
for step in range(20):
    for number in range(400_000):
        total += number * step % 7
    print(f'step {step}: {total}', flush=True)`;

/** The cost of a job besides its command. */
export const runnerOverhead: Group = {
  name: 'runner',
  title: 'Runner: a job against its command run by hand',

  async measure({ folder, started, say }) {
    const service = await startService(join(folder, 'data'));
    started.defer(() => service.stop());
    const { client } = await service.signIn();
    const command = await TimedCommand.create(client, join(folder, 'by-hand'), work);
    const ratios: number[] = [];
    const besides: number[] = [];
    for (let round = 0; round < repeats; round += 1) {
      say(`run ${round + 1} of ${repeats}`);
      const byHand = await command.byHand();
      const { seconds, wholeSeconds } = await command.asJob(pollMilliseconds);
      ratios.push(seconds / byHand);
      besides.push(wholeSeconds - seconds);
    }
    return [
      figure('Arithmetic for about a second, as a job over by hand', median(ratios), '×'),
      figure('Whole job, from submit to its end, less its command', median(besides), 's', {
        remark: `slowest ${Math.max(...besides).toFixed(2)} s`,
      }),
    ];
  },
};
