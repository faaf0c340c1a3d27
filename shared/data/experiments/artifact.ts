import * as z from 'zod';
import { Sha256, Timestamp } from '../../core/formats.ts';
import { changeJob, jobPartition } from '../jobs/job.ts';
import { holdsLease, type Lease } from '../jobs/lease.ts';
import { count } from '../projects/project.ts';
import { UnreadableRecordError } from '../table/item.ts';
import { type RecordType, recordType } from '../table/record.ts';
import {
  type Item,
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { type Experiment, experimentKey, experimentPrefix } from './experiment.ts';

const artifactSchema = () =>
  z.object({
    /** Path below `OUTPUT_DIR` or `CHECKPOINT_DIR`, with slashes. */
    path: z.string(),
    size: z.number().int(),
    /** Null where a client sent it in parts, whose digest nobody computes. */
    sha256: Sha256.nullable(),
    media_type: z.string(),
    /** Key in the bucket: made by the service, never of the path. */
    object: z.string(),
    created_at: Timestamp,
  });
export type Artifact = z.infer<ReturnType<typeof artifactSchema>>;

/** What a job leaves: results for people (`OUTPUT_DIR`), or its state for a later attempt (`CHECKPOINT_DIR`). */
export type ArtifactKind = 'artifact' | 'checkpoint';

/** Longest path, in bytes: what a sort key takes (1,024), less its prefix. */
export const artifactPathMaxBytes = 1000;

export const artifactKey = (job_id: string, path: string, kind: ArtifactKind): Key => ({
  pk: jobPartition(job_id),
  sk: `${layouts[kind].prefix}${path}`,
});

const layouts: Readonly<Record<ArtifactKind, ArtifactLayout>> = {
  artifact: {
    type: recordType('artifact', artifactSchema),
    prefix: 'ARTIFACT#',
    folder: 'artifacts',
    files: 'artifacts',
    bytes: 'artifact_bytes',
  },
  checkpoint: {
    type: recordType('checkpoint', artifactSchema),
    prefix: 'CHECKPOINT#',
    folder: 'checkpoints',
    files: 'checkpoints',
    bytes: 'checkpoint_bytes',
  },
};

interface ArtifactLayout {
  type: RecordType<ReturnType<typeof artifactSchema>>;
  /** Of the sort key. */
  prefix: string;
  /** Folder below the experiment's prefix in the bucket. */
  folder: string;
  /** The experiment's own counters of these files and their bytes. */
  files: string;
  bytes: string;
}

/** The artifact or checkpoint of a stored item. */
export const parseArtifact = (item: Item, kind: ArtifactKind = 'artifact'): Artifact =>
  layouts[kind].type.parse(item);

/** The write that records a file of an imported experiment. */
export const putImportedFile = (experiment_id: string, kind: ArtifactKind, value: Artifact): Write => ({
  put: layouts[kind].type.item(artifactKey(experiment_id, value.path, kind), value),
});

export const artifactItem = (key: Key, value: Artifact): Item => layouts.artifact.type.item(key, value);

/** A new place in the bucket for a file of an experiment. */
export const artifactObject = (
  project_id: string,
  experiment_id: string,
  id: string,
  kind: ArtifactKind = 'artifact',
): string => `${experimentPrefix(project_id, experiment_id)}${layouts[kind].folder}/${id}`;

/** The project whose experiment left a file, by its place in the bucket. */
export const projectOfArtifact = ({ object }: Artifact): string => object.split('/')[1] ?? '';

export async function findArtifact(
  records: TableReader<'records'>,
  job_id: string,
  path: string,
  kind: ArtifactKind = 'artifact',
): Promise<Artifact | undefined> {
  const item = await records.get(artifactKey(job_id, path, kind));
  return item && layouts[kind].type.parse(item);
}

/** Artifacts of a job, by path. */
export async function listArtifacts(
  records: TableReader<'records'>,
  job_id: string,
  page: { limit?: number; after: string | undefined },
  kind: ArtifactKind = 'artifact',
): Promise<Page<Artifact>> {
  const { prefix, type } = layouts[kind];
  const after = page.after === undefined ? undefined : `${prefix}${page.after}`;
  const found = readPage(
    await records.query({ pk: jobPartition(job_id), prefix, ...page, after }),
    type.parse,
  );
  return { ...found, next: found.next?.slice(prefix.length) };
}

/**
 * Keys in the bucket of everything that a job keeps there, also by records that this version cannot read.
 * @throws UnreadableRecordError for a record that does not even name its object
 */
export async function filesOfJob(records: TableReader<'records'>, job_id: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { prefix } of Object.values(layouts)) {
    let after: string | undefined;
    do {
      const page = await records.query({ pk: jobPartition(job_id), prefix, after });
      for (const item of page.items) {
        const { object } = item;
        if (typeof object !== 'string') throw new UnreadableRecordError(item, 'names no object');
        found.add(object);
      }
      after = page.next;
    } while (after !== undefined);
  }
  return found;
}

/** An experiment, and the lease under which its files are changed. */
export interface ArtifactOwner {
  experiment: Experiment;
  lease: Lease;
  kind: ArtifactKind;
  /** Most bytes that the project may hold. */
  maxProjectBytes: number;
}

/**
 * Records an uploaded file, in place of `previous` under the same path. The object lies in the bucket already; the
 * previous one is the caller's to delete afterwards.
 * @throws ConditionFailedError once the lease is lost or the job has ended, and when `previous` is not what is
 * recorded
 */
export async function putArtifact(
  records: TableWriter<'records'>,
  owner: ArtifactOwner,
  value: Artifact,
  previous: Artifact | undefined,
): Promise<void> {
  const { experiment, kind } = owner;
  const put: Write = {
    put: layouts[kind].type.item(artifactKey(experiment.experiment_id, value.path, kind), value),
    if: previous === undefined ? { exists: false } : { equals: { object: previous.object } },
  };
  const objects = previous === undefined ? 1 : 0;
  await records.write(...counted(owner, put, objects, value.size - (previous?.size ?? 0)));
}

/** The writes around a change of one file: only for the lease's holder, and kept in every count. */
function counted(
  { experiment, lease, kind, maxProjectBytes }: ArtifactOwner,
  change: Write,
  objects: number,
  bytes: number,
): Write[] {
  const { project_id, experiment_id } = experiment;
  const { files, bytes: total } = layouts[kind];
  return [
    holdsLease(experiment_id, 0, lease),
    change,
    changeJob(experimentKey(project_id, experiment_id), { add: { [files]: objects, [total]: bytes } }),
    count(project_id, { objects, bytes }, maxProjectBytes),
  ];
}

/** Takes a file out of the records; its object is the caller's to delete afterwards. Throws as {@link putArtifact}. */
export async function removeArtifact(
  records: TableWriter<'records'>,
  owner: ArtifactOwner,
  { path, object, size }: Artifact,
): Promise<void> {
  const { experiment, kind } = owner;
  const remove: Write = {
    delete: artifactKey(experiment.experiment_id, path, kind),
    if: { equals: { object } },
  };
  await records.write(...counted(owner, remove, -1, -size));
}
