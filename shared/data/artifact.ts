import * as z from 'zod';
import { Sha256, Timestamp } from '../endpoint/parameters.ts';
import { type Experiment, experimentKey, experimentPrefix } from './experiment.ts';
import { changeJob, jobPartition } from './job.ts';
import { holdsLease, type Lease } from './lease.ts';
import { count } from './project.ts';
import { recordType } from './record.ts';
import type { Key, Page, TableReader, TableWriter } from './table.ts';

const artifact = recordType(
  'artifact',
  z.object({
    /** Path below `OUTPUT_DIR`, with slashes. */
    path: z.string(),
    size: z.number().int(),
    sha256: Sha256,
    media_type: z.string(),
    /** Key in the bucket: made by the service, never of the path. */
    object: z.string(),
    created_at: Timestamp,
  }),
);
export type Artifact = z.infer<typeof artifact.schema>;

/** Longest path, in bytes: what a sort key takes (1,024), less its prefix. */
export const artifactPathMaxBytes = 1000;

const prefix = 'ARTIFACT#';
const artifactKey = (job_id: string, path: string): Key => ({ pk: jobPartition(job_id), sk: `${prefix}${path}` });

/** A new place in the bucket for a file of an experiment. */
export const artifactObject = (project_id: string, experiment_id: string, id: string): string =>
  `${experimentPrefix(project_id, experiment_id)}artifacts/${id}`;

export async function findArtifact(records: TableReader<'records'>, job_id: string, path: string): Promise<Artifact | undefined> {
  const item = await records.get(artifactKey(job_id, path));
  return item && artifact.parse(item);
}

/** Artifacts of a job, by path. */
export async function listArtifacts(
  records: TableReader<'records'>,
  job_id: string,
  page: { limit?: number; after: string | undefined },
): Promise<Page<Artifact>> {
  const after = page.after === undefined ? undefined : `${prefix}${page.after}`;
  const { items, next } = await records.query({ pk: jobPartition(job_id), prefix, ...page, after });
  return { items: items.map((item) => artifact.parse(item)), next: next?.slice(prefix.length) };
}

/**
 * Records an uploaded file, in place of `previous` under the same path. The object lies in the bucket already; the
 * previous one is the caller's to delete afterwards. Throws `ConditionFailed` once the lease is lost.
 */
export async function putArtifact(
  records: TableWriter<'records'>,
  experiment: Experiment,
  lease: Lease,
  value: Artifact,
  previous: Artifact | undefined,
): Promise<void> {
  const { project_id, experiment_id } = experiment;
  const bytes = value.size - (previous?.size ?? 0);
  const objects = previous === undefined ? 1 : 0;
  await records.write(
    holdsLease(experiment_id, 0, lease),
    { put: artifact.item(artifactKey(experiment_id, value.path), value) },
    changeJob(experimentKey(project_id, experiment_id), { add: { artifacts: objects, artifact_bytes: bytes } }),
    count(project_id, { objects, bytes }),
  );
}
