import { count } from '../projects/project.ts';
import {
  acceptAnnounced,
  newPurge,
  type Purge,
  parsePurge,
  purgeKey,
  recordPurge,
} from '../projects/purge.ts';
import {
  type Key,
  type Page,
  readPage,
  type TableReader,
  type TableWriter,
  type Write,
} from '../table/table.ts';
import { type Artifact, artifactItem, artifactKey, artifactObject, parseArtifact } from './artifact.ts';
import { experimentKey } from './experiment.ts';
import { loggedModelFileKey, loggedModelKey, loggedModelPrefix } from './logged-model.ts';

/** Owner of a client's files: an experiment that it records, or a model that it logs. */
export type ArtifactHome =
  | { of: 'experiment'; project_id: string; experiment_id: string }
  | { of: 'model'; project_id: string; model_id: string };

const keyOf = (home: ArtifactHome, path: string): Key =>
  home.of === 'experiment'
    ? artifactKey(home.experiment_id, path, 'artifact')
    : loggedModelFileKey(home.project_id, home.model_id, path);

/** Return the bucket key of a file, from the id of its upload. */
export const clientObject = (home: ArtifactHome, upload: string): string =>
  home.of === 'experiment'
    ? artifactObject(home.project_id, home.experiment_id, upload)
    : `${loggedModelPrefix(home.project_id, home.model_id)}${upload}`;

/**
 * Build the writes that update the counters. They fail if the owner of the files is gone, or the project is full.
 */
function counted(home: ArtifactHome, files: number, bytes: number, maxProjectBytes?: number): Write[] {
  const { project_id } = home;
  const inProject = count(project_id, { objects: files, bytes }, maxProjectBytes);
  if (home.of === 'model')
    return [{ check: loggedModelKey(project_id, home.model_id), if: { exists: true } }, inProject];
  const change = { add: { artifacts: files, artifact_bytes: bytes, version: 1 } };
  return [
    { update: experimentKey(project_id, home.experiment_id), change, if: { equals: { kind: 'logged' } } },
    inProject,
  ];
}

export async function findClientArtifact(
  records: TableReader<'records'>,
  home: ArtifactHome,
  path: string,
): Promise<Artifact | undefined> {
  const item = await records.get(keyOf(home, path));
  return item && parseArtifact(item);
}

/**
 * Return a page of the files below a folder, by path. `folder` ends with a slash, or is empty. `after` is a path.
 */
export async function listClientArtifacts(
  records: TableReader<'records'>,
  home: ArtifactHome,
  folder: string,
  page: { after?: string | undefined; limit?: number },
): Promise<Page<Artifact>> {
  const { pk, sk: prefix } = keyOf(home, folder);
  const after = page.after === undefined ? undefined : keyOf(home, page.after).sk;
  const found = await records.query({ pk, prefix, ...page, after });
  return { ...readPage(found, parseArtifact), next: found.next?.slice(keyOf(home, '').sk.length) };
}

/** Return the time of an upload's announcement. Return undefined if it was not announced, or is being removed. */
export async function findAnnounced(
  records: TableReader<'records'>,
  object: string,
): Promise<string | undefined> {
  const item = await records.get(purgeKey(object));
  const purge = item && parsePurge(item);
  return purge?.removing_at === undefined ? purge?.created_at : undefined;
}

/**
 * Record an announced file after its upload. It replaces the file of the same path.
 * @returns the recorded purge of the previous file's object
 * @throws ConditionFailedError if another change came between, or the project is full
 */
export async function putClientArtifact(
  records: TableWriter<'records'>,
  home: ArtifactHome,
  value: Artifact,
  announced_at: string,
  { maxProjectBytes, ...purging }: { newId(): string; now(): Date; maxProjectBytes: number },
): Promise<Purge | undefined> {
  const previous = await findClientArtifact(records, home, value.path);
  const purge = previous && newPurge(purging, { partitions: [], prefixes: [previous.object] });
  await records.write(
    {
      put: artifactItem(keyOf(home, value.path), value),
      if: previous === undefined ? { exists: false } : { equals: { object: previous.object } },
    },
    acceptAnnounced(value.object, announced_at),
    ...counted(home, previous === undefined ? 1 : 0, value.size - (previous?.size ?? 0), maxProjectBytes),
    ...(purge === undefined ? [] : [recordPurge(purge)]),
  );
  return purge;
}

/**
 * Record a file whose object was stored without an announcement. Jobs store files of their recorded experiments
 * this way. A crash before this call leaves an object below the experiment's prefix; the delete of the experiment
 * removes it.
 * @returns the replaced file, whose object the caller must delete
 * @throws ConditionFailedError if another change came between, or the project is full
 */
export async function putUnannounced(
  records: TableWriter<'records'>,
  home: ArtifactHome,
  value: Artifact,
  maxProjectBytes: number,
): Promise<Artifact | undefined> {
  const previous = await findClientArtifact(records, home, value.path);
  await records.write(
    {
      put: artifactItem(keyOf(home, value.path), value),
      if: previous === undefined ? { exists: false } : { equals: { object: previous.object } },
    },
    ...counted(home, previous === undefined ? 1 : 0, value.size - (previous?.size ?? 0), maxProjectBytes),
  );
  return previous;
}

/** Remove the records of at most 40 files. @returns the recorded purge of their objects */
export async function removeClientArtifacts(
  records: TableWriter<'records'>,
  home: ArtifactHome,
  files: readonly Artifact[],
  purging: { newId(): string; now(): Date },
): Promise<Purge> {
  const purge = newPurge(purging, { partitions: [], prefixes: files.map(({ object }) => object) });
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  await records.write(
    ...files.map(({ path, object }): Write => ({ delete: keyOf(home, path), if: { equals: { object } } })),
    ...counted(home, -files.length, -bytes),
    recordPurge(purge),
  );
  return purge;
}
