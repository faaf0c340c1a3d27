import { join } from 'node:path';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { startBatchServer } from '../../../infra/local/batch/batch-server.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { figure } from '../bench/figure.ts';
import { liveHistory } from './histories/live-history.ts';
import type { Proof, ProofContext } from './proof.ts';
import { credentials, region, startStores } from './world/engines.ts';
import { newService, removeService } from './world/service.ts';

const historiesOf: Readonly<Record<ProofContext['size'], number>> = { short: 2, long: 200 };

/** A Batch that takes every job and runs none. */
async function startIdleBatch(started: AsyncDisposableStack, folder: string) {
  let deliver: (event: unknown) => Promise<unknown> = async () => undefined;
  const definition = { environment: {}, vcpus: 1, memory: 512, attempts: 1 };
  const batch = await startBatchServer({
    folder,
    port: 0,
    region,
    credentials,
    queues: [{ name: 'train', maxJobs: 0 }],
    jobDefinitions: [{ ...definition, name: 'train', type: 'container', command: ['true'] }],
    hostEnvironment: {},
    deliver: async (event) => void (await deliver(event)),
  });
  started.defer(() => batch.close({ grace: 0 }));
  return {
    url: batch.url,
    setDeliver(given: typeof deliver) {
      deliver = given;
    },
  };
}

async function prove({ folder, started, size, say }: ProofContext) {
  const engines = await startStores(started, join(folder, 'engines'));
  const batch = await startIdleBatch(started, join(folder, 'batch'));
  const count = historiesOf[size];
  // The long form draws others each time: what is found can be looked for again by its seed.
  const first = size === 'short' ? 1 : Math.floor(Math.random() * 1e6);
  say(`seeds ${first} to ${first + count - 1}`);
  let [requests, anomalies, bad] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    const service = await newService(engines, batch.url);
    batch.setDeliver(taskHandler(jobStateChanged, service.environment));
    const lived = await liveHistory(service, seed);
    batch.setDeliver(async () => undefined);
    await removeService(service);
    requests += lived.requests;
    anomalies += lived.anomalies.length;
    if (lived.anomalies.length > 0) bad += 1;
    for (const anomaly of lived.anomalies) say(`seed ${seed}: ${anomaly}`);
    if ((seed - first + 1) % 50 === 0) say(`${seed - first + 1} histories, ${anomalies} anomalies`);
  }
  return [
    figure('histories of 8 clients', count, '', { atLeast: count, remark: `seeds from ${first}` }),
    figure('requests in them', requests, ''),
    figure('histories without a sequential order', bad, '', { atMost: 0 }),
    figure('anomalies', anomalies, '', { atMost: 0 }),
  ];
}

export const proof: Proof = {
  name: 'histories',
  title: 'Concurrent clients against a sequential model',
  prove,
};
