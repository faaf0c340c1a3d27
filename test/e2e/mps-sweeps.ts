import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { SweepAnswer } from '../../shared/sweeps/trials/show-sweep.ts';
import type { Ended } from '../support/mps.ts';
import { openTerminal } from '../support/terminal.ts';
import type { Session } from './mps-in-terminal.ts';

const Sweep = z.looseObject(SweepAnswer.shape);

/** Reads its flags, and reports `(lr - 0.1)²`; slowly if it is told to. */
const program = `
import json, os, sys, time
flags = dict(word.lstrip('-').split('=') for word in sys.argv[1:])
for step in range(int(flags.get('steps', 1))):
    with open(os.environ['METRICS_FILE'], 'a') as metrics:
        metrics.write(json.dumps({'val_loss': (float(flags['lr']) - 0.1) ** 2, 'step': step}) + '\\n')
    if 'steps' in flags: time.sleep(0.5)
`;

import { everySample } from '../support/samples.ts';

/** Tests of \`mps sweep\`, in the folder and the project of the session. */
export function testSweeps(session: () => Session, mps: (args: readonly string[]) => Promise<Ended>): void {
  test('mps sweep names all faults of a file before anything is sent', async () => {
    const { folder } = session();
    await writeFile(
      join(folder, 'bad.yaml'),
      'nam: x\ntrials: none\nparameters:\n  learning_rte: { min: 0, max: 1, scale: log }\n  epochs: { min: 2, max: 1 }\n',
    );

    const refused = await mps(['sweep', 'bad.yaml', '-p', 'never swept']);
    const project = await mps(['sweep', 'ls', '-p', 'never swept']);

    expect(refused).toMatchObject({ code: 2, stdout: '' });
    for (const fault of [
      'nam: unknown. Did you mean name?',
      'trials: must be a whole number',
      'parameters.learning_rte.min: must be above 0',
      'parameters.epochs.max: must be above min',
      'parameters.learning_rte: is no value of train.yaml; did you mean learning_rate?',
    ])
      expect(refused.stderr).toContain(fault);
    expect(project).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no project') });
  });

  test('mps sweep varies values of the configuration, says what it takes and names the best', async () => {
    const swept = await mps([
      ...['sweep', '-S', 'learning_rate=0.001,0.2', '-S', 'epochs=3', '--method', 'grid'],
      ...['--metric', 'val_loss', '--parallel', '2', '--name', 'rates', '--', 'python3', 'train.py'],
    ]);
    const shown = await mps(['sweep', 'show']);
    const json = await mps(['sweep', 'show', 'latest', '--json']);
    const listed = await mps(['sweep', 'ls']);

    expect(swept, swept.stderr).toMatchObject({ code: 0 });
    expect(swept.stderr).toMatch(/^estimate +2 trainings, (about|at most) .*s/m);
    expect(
      swept.stdout.match(
        /^#[01] +val_loss [\d.]+(?: at step \d+(?:, [\d.]+ at the end)?)? {2}learning_rate 0\.\d+ {2}\(/gm,
      ),
    ).toHaveLength(2);
    expect(swept.stderr).toContain('To train with the best values: mps run -S learning_rate=0.2');
    const { sweep_id, ...sweep } = Sweep.parse(JSON.parse(json.stdout));
    expect(sweep).toMatchObject({
      name: 'rates',
      status: 'COMPLETED',
      best: { params: { learning_rate: 0.2 } },
    });
    expect(shown.stdout).toMatch(/^#1\tcomplete\t/m);
    expect(listed.stdout).toContain(`${sweep_id}\trates\tCOMPLETED`);
  });

  test.runIf(everySample)(
    'mps sweep varies flags of a command, stops at its budget of trials, and is extended and resumed',
    async () => {
      await writeFile(join(session().folder, 'flags.py'), program);
      const begin = ['sweep', '-S', '--lr=0.05..0.5:log', '--trials', '1', '--metric', 'val_loss', '--json'];

      const first = await mps([...begin, '--', 'python3', 'flags.py', '--lr=1']);
      const { sweep_id } = Sweep.parse(JSON.parse(first.stdout));
      const paused = await mps(['sweep', 'pause', sweep_id]);
      const extended = await mps(['sweep', 'extend', sweep_id, '--trials', '2', '-S', 'lr=0.01..0.5:log']);
      const followed = await mps(['sweep', 'show', '-f', sweep_id]);
      const experiments = await mps(['ls', `sweep = '${sweep_id}'`, '--json']);
      const deleted = await mps(['sweep', 'rm', sweep_id]);

      expect(paused).toMatchObject({ code: 1, stderr: expect.stringContaining('has ended: COMPLETED') });
      expect(extended, extended.stderr).toMatchObject({ code: 0 });
      expect(followed, followed.stderr).toMatchObject({ code: 0 });
      expect(followed.stderr).toContain('2 of 2 trials');
      const commands = experiments.stdout
        .split('\n')
        .filter(Boolean)
        .map((row) => JSON.parse(row).command);
      expect(commands).toHaveLength(2);
      for (const command of commands) expect(command).toMatch(/^python3 flags\.py --lr=0\.\d+$/);
      expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining('Its experiments stay') });
    },
  );

  test.runIf(everySample)('Ctrl-C leaves a sweep running, and says how to come back', async () => {
    const { scratch, folder } = session();
    const home = join(scratch, 'home');
    const environment = { HOME: home, MPS_CHECKOUT: home, NO_COLOR: '1' };
    const flags = '-S --lr=0.1,0.2 --method grid --metric val_loss -- python3 flags.py --lr=1 --steps=600';
    const following = openTerminal(`mps sweep ${flags}`, { folder, columns: 100, environment });

    await following.shows(/RUNNING {2}0 of 2 trials {2}\d running/);
    following.type('\x03');
    const code = await following.ended;
    const [, sweep_id = ''] =
      /To follow it again: mps sweep show -f ([0-9a-z]{26})/.exec(following.output()) ?? [];
    const cancelled = await mps(['sweep', 'cancel', sweep_id]);

    expect(code).toBe(130);
    expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringContaining('CANCELLED') });
  });
}
