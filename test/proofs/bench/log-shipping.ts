import { join } from 'node:path';
import type { Client } from '../../../shared/client/client.ts';
import { type Figure, figure, median } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { startService } from './service-process.ts';
import { type JobRun, TimedCommand } from './timed-command.ts';

const steady = 100_000;
const flood = 1_000_000;
const repeats = 2;
const pollMilliseconds = 500;

/** Pauses come on top of the writing time, so that delays of writes are visible. */
const steadyWork = `for batch in range(1000):
    for line in range(${steady / 1000}):
        print(f'{batch * ${steady / 1000} + line} loss 0.123456', flush=True)
    time.sleep(0.01)`;

const floodWork = `for line in range(${flood}):
    sys.stdout.write(f'{line} loss 0.123456\\n')
sys.stdout.flush()`;

/** How many of so many numbered lines are in the log, each once and in its place. */
function inPlace({ lines }: JobRun): number {
  return lines.filter(({ message }, index) => message === `${index} loss 0.123456`).length;
}

async function steadyFigures(client: Client, { folder, say }: Bench): Promise<Figure[]> {
  const command = await TimedCommand.create(client, join(folder, 'steady'), steadyWork);
  const ratios: number[] = [];
  const pipeRatios: number[] = [];
  let found = steady;
  for (let round = 0; round < repeats; round += 1) {
    say(`100,000 lines, run ${round + 1} of ${repeats}`);
    const byHand = await command.byHand();
    pipeRatios.push((await command.byHand('pipe')) / byHand);
    const run = await command.asJob(pollMilliseconds);
    ratios.push(run.seconds / byHand);
    found = Math.min(found, inPlace(run));
  }
  return [
    figure('100,000 lines over 10 s, as a job over by hand', median(ratios), '×', { atMost: 1.1 }),
    figure('The same by hand through a pipe to cat, over by hand', median(pipeRatios), '×'),
    figure('Lines of them in the log, in order', found, '', { atLeast: steady }),
  ];
}

async function floodFigures(client: Client, { folder, say }: Bench): Promise<Figure[]> {
  const command = await TimedCommand.create(client, join(folder, 'flood'), floodWork);
  say('1,000,000 lines');
  const byHand = await command.byHand();
  const run = await command.asJob(pollMilliseconds);
  return [
    figure('1,000,000 lines as fast as it can: in the log, in order', inPlace(run), '', { atLeast: flood }),
    figure('The same, as a job', run.seconds, 's', {
      remark: `by hand to nowhere ${byHand.toFixed(2)} s; submit to end ${run.wholeSeconds.toFixed(1)} s`,
    }),
  ];
}

/** The cost of shipping the log for the command, and whether every line arrives. */
export const logShipping: Group = {
  name: 'log',
  title: 'Log shipping',

  async measure(bench) {
    const service = await startService(join(bench.folder, 'data'));
    bench.started.defer(() => service.stop());
    const { client } = await service.signIn();
    return [...(await steadyFigures(client, bench)), ...(await floodFigures(client, bench))];
  },
};
