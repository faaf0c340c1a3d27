import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { DeadLetters, eventDelivery } from '../../../infra/local/start/emulators/event-delivery.ts';
import {
  type Experiment,
  experimentJob,
  findExperiment,
  putExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { beginJob } from '../../../shared/jobs/job-slots.ts';
import { experimentOf } from '../../support/experiment.ts';
import { findOrphans } from '../../support/inventory.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { figure } from '../bench/figure.ts';
import { disturbed, historyOf } from './events/histories.ts';
import { expectedOf } from './events/model.ts';
import { shareOut } from './kill/share-out.ts';
import type { Proof, ProofContext } from './proof.ts';
import { startStores } from './world/engines.ts';
import { newProject } from './world/project.ts';
import { newDeveloper, newService, type Service } from './world/service.ts';

const sizes = { short: { jobs: 12, events: 300 }, long: { jobs: 400, events: 10_000 } };
/** Functions that run at the same time. */
const atOnce = 12;

async function record({ records, settings }: Service, project_id: string, isCancelled: boolean) {
  const at = new Date().toISOString();
  const experiment: Experiment = {
    ...experimentOf(project_id, null),
    status: 'SUBMITTED',
    status_rank: 1,
    attempt: 0,
    batch_attempt: 0,
    batch_job_id: randomUUID(),
    cancel_requested_at: isCancelled ? at : null,
    cancelled_by: null,
    user_id: ulid().toLowerCase(),
  };
  await beginJob(records, experimentJob(experiment), settings.limits, [putExperiment(experiment)]);
  return experiment;
}

async function prove({ folder, started, size, seeds: [seed = 1] = [], say }: ProofContext) {
  const { jobs, events: count } = sizes[size];
  const random = seededRandom(seed);
  const engines = await startStores(started, folder);
  const service = await newService(engines, 'http://127.0.0.1:9');
  const { token } = await newDeveloper(service);
  const project_id = await newProject(service, token, 'true');
  const lives = await Promise.all(
    Array.from({ length: jobs }, async () => {
      const isCancelled = random() < 0.1;
      const { experiment_id, batch_job_id } = await record(service, project_id, isCancelled);
      const history = historyOf(random, batch_job_id ?? '', `train-${experiment_id}`);
      return { experiment_id, expected: expectedOf(history, isCancelled), history };
    }),
  );
  const { events, malformed } = disturbed(
    random,
    lives.map(({ history }) => history),
    count,
  );
  say(`${events.length} events of ${jobs} jobs`);
  const file = join(folder, 'dead-letters.jsonl');
  const deliver = eventDelivery(taskHandler(jobStateChanged, service.environment), new DeadLetters(file));
  let thrown = 0;
  await shareOut(Array.from({ length: atOnce }), [...events], async (_, event) => {
    await deliver(event).catch((error: unknown) => {
      thrown += 1;
      say(String(error));
    });
  });
  let differing = 0;
  for (const { experiment_id, expected } of lives) {
    const found = await findExperiment(service.records, project_id, experiment_id);
    const isSame =
      found?.status === expected.status &&
      (expected.batch_attempt === undefined || found.batch_attempt === expected.batch_attempt) &&
      found.attempts.length === expected.attempts &&
      found.exit_code === expected.exit_code;
    if (isSame) continue;
    differing += 1;
    const { status, batch_attempt, attempts, exit_code } = found ?? {};
    say(
      JSON.stringify({ found: { status, batch_attempt, attempts: attempts?.length, exit_code }, expected }),
    );
  }
  const letters = (await readFile(file, 'utf8')).split('\n').length - 1;
  return [
    figure('events taken in, duplicated and shuffled', events.length, '', {
      remark: `${jobs} jobs, seed ${seed}`,
    }),
    figure('final states that differ from the model', differing, '', { atMost: 0 }),
    figure('malformed events', malformed, ''),
    figure('of them not among the dead letters', Math.abs(malformed - letters), '', { atMost: 0 }),
    figure('events that were refused for another reason', thrown, '', { atMost: 0 }),
    figure(
      'orphans, stale jobs, counts that do not agree',
      findOrphans(await service.inventory()).length,
      '',
      {
        atMost: 0,
      },
    ),
  ];
}

export const proof: Proof = {
  name: 'events',
  title: 'Job events duplicated, shuffled, 1 % malformed',
  prove,
};
