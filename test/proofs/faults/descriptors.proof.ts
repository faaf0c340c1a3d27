import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure } from '../bench/figure.ts';
import { Ledger } from './machine/ledger.ts';
import { startProgram } from './machine/start-program.ts';
import type { Proof, ProofContext } from './proof.ts';

const launcher = join(import.meta.dirname, '../../../infra/local/start/launch.mjs');
/** What each process of the service may have open; at rest the one that serves has about forty. */
const most = 96;
const connectionsOf: Readonly<Record<ProofContext['size'], number>> = { short: 120, long: 600 };

const openFiles = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;

/** Connections that ask for nothing, as many as are wanted; those that the service closes are given up. */
function occupy(url: string, count: number): Socket[] {
  const { hostname, port } = new URL(url);
  return Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => {}));
}

async function prove({ folder, started, size, say }: ProofContext) {
  const limit = [
    `--nofile=${most}:${most}`,
    process.execPath,
    launcher,
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
  ];
  const service = await startProgram(started, '/usr/bin/prlimit', limit);
  const ledger = new Ledger(service.url);
  started.defer(() => ledger.close());
  await ledger.signIn();
  await ledger.write(1_000, false);
  for (let count = 0; count < 5; count += 1) await ledger.write(1_000);
  const calm = ledger.faults.length;

  const rounds = size === 'short' ? 1 : 5;
  let [refused, jobs] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const sockets = occupy(service.url, connectionsOf[size]);
    await sleep(500);
    for (let count = 0; count < 5; count += 1) if (!(await ledger.write(1_000))) refused += 1;
    if (await ledger.train('true')) jobs += 1;
    for (const socket of sockets) socket.destroy();
    await sleep(500);
  }
  // Whoever got no connection was told so by that; an answer that came must have been a clear one.
  const unclear = ledger.faults.slice(calm).filter((fault) => !/: 0\b/.test(fault));
  const begun = performance.now();
  while (!(await ledger.write(1_000)) && performance.now() - begun < 60_000) await sleep(200);
  const recovered = (performance.now() - begun) / 1000;
  if (await ledger.train('true')) jobs += 1;
  const ends = await ledger.ends();
  const missing = await ledger.missing();
  const isAlive = service.isAlive();
  for (const line of [...ledger.faults, ...missing]) say(line);
  if (unclear.length > 0) say(service.output());
  say(`${await openFiles(service.pid)} files open at the end`);
  await service.end('SIGTERM');
  return [
    figure('files that a process may open', most, '', {
      remark: `${connectionsOf[size]} idle connections besides`,
    }),
    figure('writes not done meanwhile', refused, '', { remark: 'no connection, or 503' }),
    figure('unclear answers', unclear.length, '', { atMost: 0 }),
    figure('acknowledged', ledger.acknowledged, ''),
    figure('of these missing', missing.length, '', { atMost: 0 }),
    figure('accepted jobs without an end', jobs - ends.length, '', { atMost: 0 }),
    figure('writing again after', recovered, 's', { atMost: size === 'short' ? 60 : 10 }),
    figure('processes that ended', isAlive ? 0 : 1, '', { atMost: 0 }),
  ];
}

export const proof: Proof = { name: 'descriptors', title: 'A limit on open files', prove };
