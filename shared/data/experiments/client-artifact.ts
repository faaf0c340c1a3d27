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

/** What a client's files belong to: an experiment that it records, or a model that it logs. */
export type ArtifactHome =
  | { of: 'experiment'; project_id: string; experiment_id: string }
  | { of: 'model'; project_id: string; model_id: string };

const keyOf = (home: ArtifactHome, path: string): Key =>
  home.of === 'experiment'
    ? artifactKey(home.experiment_id, path, 'artifact')
    : loggedModelFileKey(home.project_id, home.model_id, path);

/** Key in the bucket of a file, of whose upload this is the id. */
export const clientObject = (home: ArtifactHome, upload: string): string =>
  home.of === 'experiment'
    ? artifactObject(home.project_id, home.experiment_id, upload)
    : `${loggedModelPrefix(home.project_id, home.model_id)}${upload}`;

/** The writes that keep the counts; refused once what the files belong to is gone, or where the project is full. */
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

/** Files below a folder, by path: `folder` ends with a slash, or is empty. `after` is a path. */
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

/** When an upload was announced; undefined where it was not, or is being removed. */
export async function findAnnounced(
  records: TableReader<'records'>,
  object: string,
): Promise<string | undefined> {
  const item = await records.get(purgeKey(object));
  const purge = item && parsePurge(item);
  return purge?.removing_at === undefined ? purge?.created_at : undefined;
}

/**
 * Record a file that was uploaded as announced, in place of the one of its path.
 * @returns the purge of the previous one's object, which is recorded
 * @throws ConditionFailedError when something of it has changed meanwhile, or the project is full
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
 * Record a file whose object was put without an announcement, as a job puts those of what it records. A crash before
 * leaves an object below the prefix of the experiment, which goes with it.
 * @returns the one that it replaces, whose object is the caller's to delete
 * @throws ConditionFailedError when something of it has changed meanwhile, or the project is full
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

/** Take files out of the records, at most 40. @returns the purge of their objects, which is recorded */
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
