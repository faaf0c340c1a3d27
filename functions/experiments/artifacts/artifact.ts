import * as z from 'zod';
import { Sha256, Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { ArtifactHome } from '../../../shared/data/experiments/client-artifact.ts';
import { type Experiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { ArtifactPath } from '../../../shared/data/projects/upload-rules.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';

/** A file of an experiment in a response. */
export const ArtifactAnswer = z.object({
  path: z.string(),
  size: z.number().int(),
  sha256: Sha256.nullable().describe('Null for a file that a client sent in parts.'),
  media_type: z.string(),
  created_at: Timestamp,
});

/** Query parameter that chooses the files of `OUTPUT_DIR` or those of `CHECKPOINT_DIR`. */
export const fileKind = z
  .enum(['artifact', 'checkpoint'])
  .default('artifact')
  .describe('`checkpoint` for the files of `CHECKPOINT_DIR`, from which a rerun continues.');

/** Path parameters of a file that a client uploads. */
export const uploadedPath = experimentPath.extend({
  path: ArtifactPath.describe('Path of the file among the artifacts, such as `model/weights.npz`.'),
});

export const uploadId = Ulid.describe('The `upload_id` from the response to POST.');

/**
 * Return the experiment to which a client uploads a file.
 * @throws ServiceError `not-found`; `conflict` for a training
 */
export async function requireLogged(
  records: TableReader<'records'>,
  { project_id, experiment_id }: Pick<Experiment, 'project_id' | 'experiment_id'>,
): Promise<Extract<ArtifactHome, { of: 'experiment' }>> {
  const { kind } = await requireExperiment(records, project_id, experiment_id);
  if (kind !== 'logged') {
    const message =
      'A training gets artifacts only from its job: files in OUTPUT_DIR, and files that its program logs.';
    throw new ServiceError('conflict', message);
  }
  return { of: 'experiment', project_id, experiment_id };
}
