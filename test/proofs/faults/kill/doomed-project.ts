import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { artifactObject } from '../../../../shared/data/experiments/artifact.ts';
import {
  type Experiment,
  experimentJob,
  experimentPrefix,
  putExperiment,
} from '../../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../../shared/data/jobs/job.ts';
import { putJobConfig } from '../../../../shared/data/jobs/job-config.ts';
import { rankOf } from '../../../../shared/data/jobs/job-status.ts';
import { takeLease } from '../../../../shared/data/jobs/lease.ts';
import { putMember } from '../../../../shared/data/projects/member.ts';
import { count, requireProject } from '../../../../shared/data/projects/project.ts';
import type { Write } from '../../../../shared/data/table/table.ts';
import { beginJob } from '../../../../shared/jobs/job-slots.ts';
import { experimentOf } from '../../../support/experiment.ts';
import { newProject } from '../world/project.ts';
import type { Service } from '../world/service.ts';
import { archiveOf } from '../world/source-archive.ts';

/** How much a project holds. */
export interface Size {
  /** Experiments that have ended; each comes with seven records of its own. */
  ended: number;
  objects: number;
}

/** A job that has not ended: where its record stands, and whether Batch knows it. */
export interface LiveJob {
  experiment: Experiment;
  isSubmitted: boolean;
}

export interface FilledProject {
  project_id: string;
  /** Ids of all its experiments. */
  experiments: string[];
  live: LiveJob[];
}

const sha256 = createHash('sha256').update('x').digest('hex');

/** The states in which a delete finds jobs, one each. */
const liveStates = ['RUNNING', 'RUNNING', 'RUNNABLE', 'PENDING', 'CREATED'] as const;

function artifactsOf({ project_id, experiment_id }: Experiment): { keys: string[]; writes: Write[] } {
  const keys = ['a', 'b'].map((name) => artifactObject(project_id, experiment_id, name));
  const writes = keys.map((object, index): Write => {
    const path = `file-${index}`;
    const key = { pk: jobPartition(experiment_id), sk: `ARTIFACT#${path}` };
    const file = {
      path,
      size: 1,
      sha256,
      media_type: 'text/plain',
      object,
      created_at: '2026-01-02T03:04:05.000Z',
    };
    return { put: { ...key, ...file, record_type: 'artifact', schema_version: 0 } };
  });
  return { keys, writes };
}

const chunks = (experiment_id: string): Write[] =>
  ['LOG#00#0001#00000000', 'METRIC#0001#00000000'].map((sk) => ({
    put: {
      pk: jobPartition(experiment_id),
      sk,
      record_type: 'chunk',
      schema_version: 0,
      rows: 0,
      packed: Buffer.of(),
    },
  }));

const leaseOf = ({ experiment_id, created_at }: Experiment): Write =>
  takeLease(
    experiment_id,
    0,
    {
      holder: 'h',
      number: 1,
      batch_job_id: 'b',
      batch_attempt: 1,
      taken_at: created_at,
      heartbeat_at: created_at,
    },
    undefined,
  );

/** Stores objects, many at once: one, and copies of it, which share its file in the local store. */
async function storeObjects({ objects }: Service, [first, ...others]: readonly string[]): Promise<void> {
  if (first === undefined) return;
  await objects.put(first, Buffer.from('x'), 'text/plain');
  const work = async () => {
    for (let key = others.pop(); key !== undefined; key = others.pop()) {
      if (!(await objects.copy(first, key))) throw new Error(`there is no ${first} to copy`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
}

function endedExperiment(project_id: string, user_id: string, value: number | null): Experiment {
  const made = experimentOf(project_id, value ?? 0);
  const best = value === null ? null : made.best;
  return { ...made, best, user_id, status: 'SUCCEEDED', status_rank: 6, artifacts: 2, artifact_bytes: 2 };
}

/** Writes an experiment that has ended, in eight records; answers the keys of its files. */
async function recordEnded({ records }: Service, ended: Experiment): Promise<string[]> {
  const { keys, writes } = artifactsOf(ended);
  await records.write(
    putExperiment(ended),
    putJobConfig(ended.experiment_id, Buffer.from('epochs: 3')),
    leaseOf(ended),
    ...chunks(ended.experiment_id),
    ...writes,
    count(ended.project_id, { experiments: 1, objects: 2, bytes: 2 }),
  );
  return keys;
}

async function recordLive(
  { records, settings }: Service,
  project_id: string,
  user_id: string,
  status: (typeof liveStates)[number],
): Promise<Experiment> {
  const now = new Date().toISOString();
  const experiment: Experiment = {
    ...experimentOf(project_id, null),
    // One of long ago would have waited for too long.
    created_at: now,
    started_at: now,
    checked_at: now,
    user_id,
    status,
    status_rank: rankOf(status),
    attempt: status === 'RUNNING' ? 1 : 0,
    batch_attempt: status === 'CREATED' ? 0 : 1,
    ...(status === 'PENDING' && { kind: 'train-remote', nodes: 2 }),
  };
  await beginJob(records, experimentJob(experiment), settings.limits, [
    putExperiment(experiment),
    putJobConfig(experiment.experiment_id, Buffer.from('epochs: 3')),
    ...(status === 'RUNNING' ? [leaseOf(experiment)] : []),
  ]);
  return experiment;
}

/** More members than a purge takes out of a project in one transaction. */
const members = 30;

async function share({ records }: Service, project_id: string): Promise<void> {
  const project = await requireProject(records, project_id);
  const at = { role: 'developer' as const, added_at: project.created_at, version: 1 };
  for (let index = 0; index < members; index += 1) {
    const user_id = ulid().toLowerCase();
    await putMember(records, project, { ...at, project_id, user_id, username: `m${index}` }, undefined);
  }
}

/** A project with configuration, ended experiments, live jobs and objects, all of them counted as they must be. */
export async function fillProject(
  service: Service,
  owner: { user: { user_id: string }; token: string },
  size: Size,
  states: readonly (typeof liveStates)[number][] = liveStates,
): Promise<FilledProject> {
  const project_id = await newProject(
    service,
    owner.token,
    'sh train.sh',
    await archiveOf({ 'train.sh': 'true' }),
  );
  await share(service, project_id);
  const { user_id } = owner.user;
  const keys: string[] = [];
  const experiments: string[] = [];
  const live: LiveJob[] = [];
  // The list of experiments has live jobs on all of its pages.
  const every = Math.max(1, Math.floor(size.ended / states.length));
  for (let index = 0; index < Math.max(size.ended, states.length * every); index += 1) {
    if (index < size.ended) {
      const ended = endedExperiment(project_id, user_id, index % 3 === 0 ? null : index / size.ended);
      keys.push(...(await recordEnded(service, ended)));
      experiments.push(ended.experiment_id);
    }
    const status = index % every === 0 ? states[index / every] : undefined;
    if (status === undefined) continue;
    const experiment = await recordLive(service, project_id, user_id, status);
    live.push({ experiment, isSubmitted: status !== 'CREATED' });
    experiments.push(experiment.experiment_id);
  }
  // What no record names, as uploads leave it that nobody went on with.
  const prefix = experimentPrefix(project_id, experiments[0] ?? ulid());
  while (keys.length < size.objects) keys.push(`${prefix}artifacts/more-${keys.length}`);
  await storeObjects(service, keys);
  return { project_id, experiments, live };
}
