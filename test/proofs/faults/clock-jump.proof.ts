import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../bench/figure.ts';
import { Ledger } from './machine/ledger.ts';
import { buildSkewedBundle } from './machine/skewed-bundle.ts';
import { startProgram } from './machine/start-program.ts';
import type { Proof, ProofContext } from './proof.ts';

const hour = 60 * 60 * 1000;
/** Longer than the schedule's 5 s, so that the reconciler looks at the running job after each jump. */
const pause = 7_000;

async function prove({ folder, started, size, say }: ProofContext) {
  const { program, setOffset } = await buildSkewedBundle(folder);
  const service = await startProgram(started, process.execPath, [
    program,
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
  ]);
  const ledger = new Ledger(service.url);
  started.defer(() => ledger.close());
  await ledger.signIn();
  const jumps = size === 'short' ? [hour, 0] : [hour, 0, -hour, 0, 24 * hour, 0];
  await ledger.write(1_000, false);
  let [written, jobs] = [0, 0];
  const write = async () => {
    for (let count = 0; count < 5; count += 1) if (await ledger.write(1_000)) written += 1;
  };
  await write();
  for (const jump of jumps) {
    // It runs when the clock jumps, and ends when it has.
    if (await ledger.train(`sh -c "sleep ${Math.round((2 * pause) / 1000)}"`)) jobs += 1;
    await sleep(pause);
    await setOffset(jump);
    await sleep(pause);
    const { status } = await ledger.ask('GET', '/users/me');
    say(
      `the clock is ${jump / hour} h off: the token answers ${status}, ${service.isAlive() ? 'alive' : 'gone'}`,
    );
    if (status === 401) await ledger.signIn();
    await write();
  }
  const ends = await ledger.ends().catch((error: unknown) => {
    say(service.output());
    throw error;
  });
  const missing = await ledger.missing();
  await service.end('SIGTERM');
  const again = await startProgram(started, process.execPath, [
    program,
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
  ]);
  ledger.moveTo(again.url);
  const restarted = await ledger.missing();
  await again.end('SIGTERM');
  for (const line of [...missing, ...restarted, ...ledger.faults, ...ends]) say(line);
  const lost = ends.filter((end) => !end.startsWith('SUCCEEDED')).length;
  return [
    figure('jumps of the clock, each while a job ran', jumps.length, ''),
    figure('projects written in between', written, '', { atLeast: 5 * (jumps.length + 1) }),
    figure('5xx, and lost', ledger.faults.length + (ledger.statuses.get(503) ?? 0), '', { atMost: 0 }),
    figure('acknowledged', ledger.acknowledged, ''),
    figure('of these missing', missing.length, '', { atMost: 0 }),
    figure('of these missing after a restart', restarted.length, '', { atMost: 0 }),
    figure('jobs that ran on and succeeded', jobs - lost, '', { atLeast: jumps.length }),
  ];
}

export const proof: Proof = { name: 'clock-jump', title: 'Jumps of the clock by an hour', prove };
