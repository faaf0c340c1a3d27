import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFinal, type JobStatus } from '../../../shared/data/jobs/job-status.ts';
import { startLocalService } from '../../support/local-service.ts';
import { figure } from '../bench/figure.ts';
import { adminPassword, Ledger } from './machine/ledger.ts';
import type { Proof, ProofContext } from './proof.ts';

/** A kill, a Ctrl-C and what a machine sends that shuts down, by turns. */
const signals = ['SIGKILL', 'SIGINT', 'SIGTERM'] as const;

/** Counts, with the number in a checkpoint and as a metric, until something listens at a port. */
const countUntil = (port: number): string =>
  `bash -c 'n=$(cat "$CHECKPOINT_DIR/n" 2>/dev/null || echo 0); echo "from $n"; until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do n=$((n+1)); echo $n > "$CHECKPOINT_DIR/n"; printf "\\173\\"loss\\": %s, \\"step\\": %s\\175\\n" $n $n >> "$METRICS_FILE"; sleep 0.3; done'`;

interface Experiment {
  experiment_id: string;
  project_id: string;
  status: JobStatus;
  attempts: unknown[];
  metrics: Record<string, { last: number }>;
}

/** One training while the service is stopped and started again: each time once the training has got on. */
async function prove({ folder, started, size, say }: ProofContext) {
  const restarts = size === 'short' ? 2 : 20;
  const start = async () => {
    const service = await startLocalService(['--data', join(folder, 'data')], {
      ADMIN_PASSWORD: adminPassword,
    });
    if ('code' in service) throw new Error(`the service did not start: ${service.output}`);
    started.defer(async () => void (await service.end('SIGKILL')));
    return service;
  };
  const gate = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const { port } = gate.address() as AddressInfo;
  gate.close();

  let service = await start();
  const ledger = new Ledger(service.url);
  started.defer(() => ledger.close());
  await ledger.signIn();
  await ledger.write(100, false);
  await ledger.train(countUntil(port));
  const [{ project_id }] = JSON.parse((await ledger.ask('GET', '/projects/')).text);
  const read = async (): Promise<Experiment> =>
    JSON.parse((await ledger.ask('GET', `/projects/${project_id}/experiments`)).text)[0];
  const reached = ({ metrics }: Experiment) => metrics['loss']?.last ?? 0;
  let before = 0;
  let done = 0;
  for (; done < restarts; done += 1) {
    let experiment = await read();
    const until = performance.now() + 120_000;
    while (reached(experiment) <= before && !isFinal(experiment.status) && performance.now() < until) {
      await sleep(500);
      experiment = await read();
    }
    if (reached(experiment) <= before) break;
    before = reached(experiment);
    const signal = signals[done % signals.length] ?? 'SIGKILL';
    say(`attempt ${experiment.attempts.length} has reached ${before}: ${signal}`);
    await service.end(signal);
    service = await start();
    ledger.moveTo(service.url);
  }
  gate.listen(port, '127.0.0.1');
  started.defer(() => void gate.close());
  const [end = ''] = await ledger.ends();
  const { experiment_id, attempts } = await read();
  const logs = await ledger.ask('GET', `/projects/${project_id}/experiments/${experiment_id}/logs`);
  const begins = [...logs.text.matchAll(/from (\d+)/g)].map(([, number]) => Number(number));
  say(`${end}; began from ${begins.join(', ')}`);
  await service.end('SIGTERM');
  return [
    figure('restarts during one training', done, '', { atLeast: restarts }),
    figure('trainings that succeeded', Number(end.startsWith('SUCCEEDED')), '', { atLeast: 1 }),
    figure('attempts', attempts.length, ''),
    figure('number from which the last one began', begins.at(-1) ?? 0, '', { atLeast: 1 }),
    figure('5xx, and lost', ledger.faults.length, '', { atMost: 0 }),
  ];
}

export const proof: Proof = {
  name: 'restarts',
  title: 'Twenty stops and starts of the service in one training',
  prove,
};
