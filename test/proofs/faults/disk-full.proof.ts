import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startLocalService } from '../../support/local-service.ts';
import { figure } from '../bench/figure.ts';
import { adminPassword, Ledger } from './machine/ledger.ts';
import type { Proof, ProofContext } from './proof.ts';

const run = promisify(execFile);

/** Time in which the service notices that its disk is full. */
const reserveMilliseconds = 1_500;
/** Bytes of each thing that is written. */
const bytes = 100_000;
/** The disk, and how many refusals in a row say that it is full. */
const sizes = { short: { megabytes: 10, enough: 4 }, long: { megabytes: 32, enough: 12 } };

async function start(started: AsyncDisposableStack, data: string) {
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: adminPassword });
  if ('code' in service) throw new Error(`the service did not start: ${service.output}`);
  started.defer(async () => void (await service.end('SIGKILL')));
  return service;
}

async function prove({ folder, started, size, say }: ProofContext) {
  if (process.getuid?.() !== 0) {
    say('not tried: only root may mount a disk of a few megabytes');
    return [figure('disks filled', 0, '', { remark: 'not tried: only root may mount a small one' })];
  }
  const data = join(folder, 'disk');
  const { megabytes, enough } = sizes[size];
  await mkdir(data);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', data]);
  started.defer(async () => void (await run('umount', ['--lazy', data])));
  const service = await start(started, data);
  const ledger = new Ledger(service.url);
  started.defer(() => ledger.close());
  await ledger.signIn();

  await ledger.write(100, false);

  let [refused, done] = [0, 0];
  for (let inRow = 0; inRow < enough; ) {
    if (await ledger.write(bytes)) {
      done += 1;
      inRow = 0;
    } else {
      refused += 1;
      inRow += 1;
    }
  }
  await ledger.train('true');
  say(`full after ${done} writes; ${refused} refused, ${JSON.stringify([...ledger.statuses])}`);
  const whileFull = await ledger.missing();

  await sleep(reserveMilliseconds);
  const deletedFull = await ledger.deleteLast();
  // What the delete has freed.
  while (await ledger.write(bytes)) done += 1;
  await service.end('SIGTERM');
  const onFull = await start(started, data);
  ledger.moveTo(onFull.url);
  const deletedAgain = await ledger.deleteLast();
  say(`deleted on the full disk: ${deletedFull}; after a restart on it: ${deletedAgain}`);

  await run('mount', ['-o', `remount,size=${2 * megabytes}m`, data]);
  const begun = performance.now();
  while (!(await ledger.write(bytes)) && performance.now() - begun < 60_000) await sleep(500);
  const recovered = (performance.now() - begun) / 1000;
  const accepted = await ledger.train('true');
  const ends = await ledger.ends();
  const afterwards = await ledger.missing();

  const hasEnded = await Promise.race([onFull.ended.then(() => true), sleep(0, false)]);
  await onFull.end('SIGTERM');
  const again = await start(started, data);
  ledger.moveTo(again.url);
  const restarted = await ledger.missing();
  const isWritable = await ledger.write(bytes);
  await again.end('SIGTERM');
  for (const line of [...whileFull, ...afterwards, ...restarted, ...ledger.faults]) say(line);
  say(`jobs: ${ends.join('; ')}`);
  return [
    figure('disk', megabytes, 'MB'),
    figure('writes refused for want of room', ledger.statuses.get(503) ?? 0, '', { atLeast: 1 }),
    figure('other 5xx, and lost', ledger.faults.length, '', { atMost: 0 }),
    figure('acknowledged', ledger.acknowledged, '', { remark: 'projects, configurations, sources' }),
    figure('of these missing while full', whileFull.length, '', { atMost: 0 }),
    figure(
      'deletes refused on the full disk',
      [deletedFull, deletedAgain].filter((status) => status >= 300).length,
      '',
      {
        atMost: 0,
      },
    ),
    figure('of these missing with room again', afterwards.length, '', { atMost: 0 }),
    figure('of these missing after a restart', restarted.length, '', { atMost: 0 }),
    figure('jobs that reached an end', ends.length, '', { atLeast: accepted ? 1 : 0 }),
    figure('writing again after', recovered, 's', { atMost: 60 }),
    figure('processes that ended', Number(hasEnded) + Number(!isWritable), '', { atMost: 0 }),
  ];
}

export const proof: Proof = { name: 'disk-full', title: 'A full disk', prove };
