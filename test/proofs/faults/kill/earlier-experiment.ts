import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { artifactObject } from '../../../../shared/data/experiments/artifact.ts';
import { type Experiment, putExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../../shared/data/jobs/job.ts';
import { putJobConfig } from '../../../../shared/data/jobs/job-config.ts';
import { findEnvironment } from '../../../../shared/data/projects/environment.ts';
import { count } from '../../../../shared/data/projects/project.ts';
import { findSource } from '../../../../shared/data/projects/upload.ts';
import { experimentOf } from '../../../support/experiment.ts';
import type { Service } from '../world/service.ts';

/** Name of the checkpoint that an earlier experiment left. */
export const earlierCheckpoint = 'earlier.bin';

const config = Buffer.from('epochs: 3\n');

/** Record an experiment of a project that has failed and left a checkpoint. */
export async function recordEarlier(
  { records, objects }: Service,
  project_id: string,
  user_id: string,
): Promise<Experiment> {
  const set = await findEnvironment(records, project_id);
  if (set === undefined) throw new Error('the project has no environment');
  const { entry_point_command, env_type, dependencies, version } = set;
  const source = await findSource(records, project_id);
  const made = experimentOf(project_id, 0.5);
  const earlier: Experiment = {
    ...made,
    ...{ user_id, status: 'FAILED', exit_code: 1, best: null, checkpoints: 1, checkpoint_bytes: 1 },
    config_sha256: createHash('sha256').update(config).digest('hex'),
    source_sha256: source?.sha256 ?? null,
    source_size: source?.size ?? 0,
    environment: { entry_point_command, env_type, dependencies, version },
  };
  const { experiment_id, created_at } = earlier;
  const object = artifactObject(project_id, experiment_id, ulid(), 'checkpoint');
  await objects.put(object, Buffer.from('x'), 'application/octet-stream');
  await records.write(
    putExperiment(earlier),
    putJobConfig(experiment_id, config),
    {
      put: {
        ...{ pk: jobPartition(experiment_id), sk: `CHECKPOINT#${earlierCheckpoint}` },
        ...{
          record_type: 'checkpoint',
          schema_version: 0,
          path: earlierCheckpoint,
          size: 1,
          object,
          created_at,
        },
        sha256: createHash('sha256').update('x').digest('hex'),
        media_type: 'application/octet-stream',
      },
    },
    count(project_id, { experiments: 1, objects: 1, bytes: 1 }),
  );
  return earlier;
}
