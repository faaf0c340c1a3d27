import * as z from 'zod';
import { Sha256, Timestamp } from '../../core/formats.ts';
import { changeJob, jobPartition } from '../jobs/job.ts';
import { holdsLease, type Lease } from '../jobs/lease.ts';
import { count } from '../projects/project.ts';
import { UnreadableRecordError } from '../table/item.ts';
import { pagesOf } from '../table/pages-of.ts';
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
    /** Null if a client sent the file in parts, because then no process computes the digest. */
    sha256: Sha256.nullable(),
    media_type: z.string(),
    /** Key in the bucket. The service chooses it; it never contains the path. */
    object: z.string(),
    created_at: Timestamp,
  });
export type Artifact = z.infer<ReturnType<typeof artifactSchema>>;

/**
 * Kind of a job's output file: a result for users (`OUTPUT_DIR`), or its state for a later attempt
 * (`CHECKPOINT_DIR`).
 */
export type ArtifactKind = 'artifact' | 'checkpoint';

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
  /** Prefix of the sort key. */
  prefix: string;
  /** Folder below the experiment's prefix in the bucket. */
  folder: string;
  /** Names of the experiment's counters of these files and their bytes. */
  files: string;
  bytes: string;
}

/** Parse a stored artifact or checkpoint. */
export const parseArtifact = (item: Item, kind: ArtifactKind = 'artifact'): Artifact =>
  layouts[kind].type.parse(item);

/** Build the write that records a file of an imported experiment. */
export const putImportedFile = (experiment_id: string, kind: ArtifactKind, value: Artifact): Write => ({
  put: layouts[kind].type.item(artifactKey(experiment_id, value.path, kind), value),
});

export const artifactItem = (key: Key, value: Artifact): Item => layouts.artifact.type.item(key, value);

/** Return the bucket key of a new file of an experiment. */
export const artifactObject = (
  project_id: string,
  experiment_id: string,
  id: string,
  kind: ArtifactKind = 'artifact',
): string => `${experimentPrefix(project_id, experiment_id)}${layouts[kind].folder}/${id}`;

/** Return the project of an experiment's file, from its bucket key. */
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

/** Return several artifacts in the order asked for; undefined for a missing one. */
export async function findArtifacts(
  records: TableReader<'records'>,
  asked: readonly { experiment_id: string; path: string }[],
): Promise<(Artifact | undefined)[]> {
  const keys = asked.map(({ experiment_id, path }) => artifactKey(experiment_id, path, 'artifact'));
  const items = await records.batchGet(keys);
  return items.map((item) => item && layouts.artifact.type.parse(item));
}

/** Return a page of the artifacts of a job, by path. */
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
 * Return which objects of an experiment stay when what its job left is removed: files that records name, also unreadable
 * ones, and what is no file of a job, such as the texts of data sets.
 * @throws UnreadableRecordError for a record without the key of its object
 */
export async function keptObjects(
  records: TableReader<'records'>,
  job_id: string,
): Promise<Pick<ReadonlySet<string>, 'has'>> {
  const found = new Set<string>();
  for (const { prefix } of Object.values(layouts)) {
    for await (const page of pagesOf((after) => records.query({ pk: jobPartition(job_id), prefix, after }))) {
      for (const item of page.items) {
        const { object } = item;
        if (typeof object !== 'string') throw new UnreadableRecordError(item, 'names no object');
        found.add(object);
      }
    }
  }
  return { has: (key) => !isFileOfJob(key) || found.has(key) };
}

const fileFolders = new Set(Object.values(layouts).map(({ folder }) => folder));

/** Whether a key below an experiment's prefix, `projects/<id>/experiments/<id>/<folder>/…`, is of an artifact or checkpoint. */
const isFileOfJob = (key: string): boolean => fileFolders.has(key.split('/')[4] ?? '');

/** Experiment, and the lease for changes of its files. */
export interface ArtifactOwner {
  experiment: Experiment;
  lease: Lease;
  kind: ArtifactKind;
  /** Maximum bytes that the project may hold. */
  maxProjectBytes: number;
}

/** A file of a path that is recorded in place of another, the previous one. One of the two is undefined at most. */
export interface FileChange {
  path: string;
  /** Its object is already in the bucket. Undefined removes the record. */
  value: Artifact | undefined;
  /** The caller must delete its object afterwards. */
  previous: Artifact | undefined;
}

/** Files that one transaction records: it has a hundred writes, and three of them are for all. */
export const maxFileChanges = 24;

/**
 * Record changes of files together. All of them raise the same counters, so each of them alone would wait for the others.
 * @throws ConditionFailedError if the lease is lost, the job has ended, the project is full, or a `previous` is no longer the
 * recorded file; then none is recorded
 */
export async function changeArtifacts(
  records: TableWriter<'records'>,
  { experiment, lease, kind, maxProjectBytes }: ArtifactOwner,
  changes: readonly FileChange[],
): Promise<void> {
  const { project_id, experiment_id } = experiment;
  const { files, bytes: total, type } = layouts[kind];
  let objects = 0;
  let bytes = 0;
  const writes = changes.map(({ path, value, previous }): Write => {
    objects += (value === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
    bytes += (value?.size ?? 0) - (previous?.size ?? 0);
    const key = artifactKey(experiment_id, path, kind);
    const unchanged = previous === undefined ? { exists: false } : { equals: { object: previous.object } };
    return { ...(value === undefined ? { delete: key } : { put: type.item(key, value) }), if: unchanged };
  });
  await records.write(
    holdsLease(experiment_id, 0, lease),
    ...writes,
    changeJob(experimentKey(project_id, experiment_id), { add: { [files]: objects, [total]: bytes } }),
    count(project_id, { objects, bytes }, maxProjectBytes),
  );
}
