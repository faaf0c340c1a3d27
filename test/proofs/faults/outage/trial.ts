import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { event as jobStateChanged } from '../../../../functions/events/job-state-changed.event.ts';
import { type Experiment, listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { taskHandler } from '../../../../shared/http/definition/task.ts';
import { findOrphans, type Inventory } from '../../../support/inventory.ts';
import type { Injector, TracedCall } from '../injection/middleware.ts';
import { type Faults, type PlanInput, writePlan } from '../injection/plan.ts';
import type { Lane } from '../kill/lane.ts';
import { pass } from '../world/pass.ts';
import { newProject } from '../world/project.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import { witnessFolder } from '../world/witness-folder.ts';
import { type Acknowledged, lostOf, nothingAcknowledged } from './acknowledged.ts';

/** A service whose every process may be disturbed: its functions in this process, its containers in their own. */
export interface Trial {
  service: Service;
  token: string;
  project_id: string;
  acknowledged: Acknowledged;
  /** From now on calls fail as the plan says, here and in containers that start. */
  disturb(faults: Faults | undefined): void;
  experiments(): Promise<Experiment[]>;
  /** Lets Batch, its events and passes come to rest, judges, and removes the service. */
  settle(): Promise<Settled>;
}

export interface Settled {
  ends: Map<string, number>;
  faults: string[];
}

/** Jobs say that they ran, once each. */
export async function startTrial(
  started: AsyncDisposableStack,
  lane: Lane,
  injector: Injector,
  seconds: number,
): Promise<Trial> {
  const { folder, witness, trace } = await witnessFolder(join(lane.folder, 'trial-'));
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const service = await newService(lane.engines, lane.batchUrl);
  const { token } = await newDeveloper(service);
  const command = `sh -c 'echo $EXPERIMENT_ID >> ${witness}; echo x > $OUTPUT_DIR/model.bin; sleep ${seconds}'`;
  const project_id = await newProject(service, token, command);
  const acknowledged = nothingAcknowledged();
  const handle = taskHandler(jobStateChanged, service.environment);
  lane.setDeliver(handle);

  const plan = (role: string, faults: Faults | undefined): PlanInput => ({ role, trace, faults });
  const disturb = (faults: Faults | undefined) => {
    const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
    const { ACCOUNTS_TABLE: _, ...given } = service.environment;
    Object.assign(lane.hostEnvironment, given, {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      WORK_DIR: join(lane.folder, 'work'),
      ENVIRONMENTS_DIR: join(lane.folder, 'environments'),
      NODE_COMPILE_CACHE: lane.program.cache,
      ...writePlan(plan('container', faults)),
    });
    injector.use(plan('functions', faults));
  };
  disturb(undefined);

  const experiments = async () => {
    const { items } = await listExperiments(service.records, project_id, {});
    return items;
  };
  return {
    service,
    token,
    project_id,
    acknowledged,
    disturb,
    experiments,
    async settle() {
      for (const after of [60, 120, 180]) {
        await pass(service, after);
        await atRest(service, await experiments());
      }
      const runs = (await readFile(witness, 'utf8')).split('\n').filter((line) => line !== '');
      const calls = (await readFile(trace, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line): TracedCall => JSON.parse(line));
      const settled = findFaults(await service.inventory(), await experiments(), {
        acknowledged,
        runs,
        calls,
      });
      await removeService(service);
      return settled;
    },
  };
}

/** Waits until no job runs any more in Batch. */
async function atRest({ batch, settings }: Service, experiments: readonly Experiment[]): Promise<void> {
  for (;;) {
    const names = experiments.map(({ experiment_id }) => `train-${experiment_id}`);
    const ids = await Promise.all(names.map((name) => batch.findByName(settings.train.queue, name)));
    const jobs = await batch.describe(ids.filter((id) => id !== undefined));
    if (jobs.every(({ status }) => status === 'SUCCEEDED' || status === 'FAILED')) break;
    await sleep(50);
  }
}

interface Seen {
  acknowledged: Acknowledged;
  /** Ids, once for each time that a command ran. */
  runs: readonly string[];
  calls: readonly TracedCall[];
}

function findFaults(
  inventory: Inventory,
  experiments: readonly Experiment[],
  { acknowledged, runs, calls }: Seen,
): Settled {
  const ends = new Map<string, number>();
  const faults = [
    ...lostOf(acknowledged, inventory),
    ...findOrphans(inventory).map(({ kind, where, why }) => `${kind}: ${where}: ${why}`),
  ];
  for (const { experiment_id, status, status_reason, attempt } of experiments) {
    ends.set(status, (ends.get(status) ?? 0) + 1);
    if (!isFinal(status)) faults.push(`stale: an experiment is still ${status}: ${status_reason}`);
    const ran = runs.filter((id) => id === experiment_id).length;
    if (ran > Math.max(attempt, 1)) faults.push(`twice: a command ran ${ran} times in ${attempt} attempts`);
    if (status === 'SUCCEEDED' && ran === 0) faults.push('never: a job succeeded that never ran');
    const writers = new Set(
      calls.flatMap(({ job, outcome, pid }) =>
        job === experiment_id && (outcome === 'done' || outcome === 'lost') ? [pid] : [],
      ),
    );
    if (writers.size !== 1) faults.push(`writers: the end of a job was written by ${writers.size} processes`);
  }
  return { ends, faults };
}
