import type { Artifact } from '../../data/experiments/artifact.ts';
import { type ArtifactHome, listClientArtifacts } from '../../data/experiments/client-artifact.ts';
import { findLoggedModel } from '../../data/experiments/logged-model.ts';
import { clientPathMaxBytes, isSafePath } from '../../data/projects/upload-rules.ts';
import { type Access, isOwnRun, type MlflowContext, outsideJob, requireAccess } from '../protocol/context.ts';
import { findModelKey, findRunKey } from '../protocol/ids.ts';
import { doesNotExist, invalidValue } from '../protocol/mlflow-error.ts';
import { requireRun } from '../runs/find-run.ts';

/** A file or folder, and its owner. */
export interface Place {
  home: ArtifactHome;
  /** Path below the artifacts of its home; empty for the root. */
  path: string;
}

/**
 * Return the path if it is safe.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` for a path that leads out of its folder or is malformed
 */
export function requireSafePath(path: string): string {
  if (!isSafePath(path))
    throw invalidValue(
      'path',
      path,
      'Invalid path: it must be relative, without "..", "\\" and empty parts.',
    );
  if (Buffer.byteLength(path) > clientPathMaxBytes)
    throw invalidValue('path', path.slice(0, 50), `it is longer than ${clientPathMaxBytes} bytes`);
  return path;
}

const notHere = (path: string) => doesNotExist(`There are no artifacts at ${path}`);

function parsePlace(location: string): Place {
  const [project_id = '', owner = '', ...rest] = location.replace(/\/$/, '').split('/');
  const isModel = owner === 'models';
  const [model_id = '', ...inModel] = rest;
  const [folder, ...segments] = isModel ? inModel : rest;
  const run = findRunKey(owner);
  const model = isModel ? findModelKey(model_id) : undefined;
  if (folder !== 'artifacts') throw notHere(location);
  const path = segments.length === 0 ? '' : requireSafePath(segments.join('/'));
  if (run?.project_id === project_id) return { home: { of: 'experiment', ...run }, path };
  if (model?.project_id === project_id) return { home: { of: 'model', ...model }, path };
  throw notHere(location);
}

/**
 * Resolve an address below `mlflow-artifacts:/` and check that the caller has this access.
 * @throws ServiceError `RESOURCE_DOES_NOT_EXIST`, `forbidden`
 */
export async function requirePlace(context: MlflowContext, location: string, access: Access): Promise<Place> {
  const place = parsePlace(location);
  const { home } = place;
  if (home.of === 'experiment') {
    const { experiment } = await requireRun(context, `${home.project_id}-${home.experiment_id}`, access);
    if (access !== 'viewer' && experiment.kind !== 'logged' && !isOwnRun(context, experiment))
      throw invalidValue('path', location, 'a training gets artifacts only from its job, in OUTPUT_DIR');
    return place;
  }
  // Models that a job logs are stored among the artifacts of their runs.
  if (context.job !== undefined) throw outsideJob();
  const [, model] = await Promise.all([
    requireAccess(context, home.project_id, access),
    findLoggedModel(context.records, home.project_id, home.model_id),
  ]);
  if (model === undefined) throw notHere(location);
  return place;
}

/** Resolve the address of a single file, as {@link requirePlace} does. */
export async function requireFilePlace(
  context: MlflowContext,
  location: string,
  access: Access,
): Promise<Place> {
  const place = await requirePlace(context, location, access);
  if (place.path === '') throw invalidValue('path', location, 'it does not name a file');
  return place;
}

/** A file or folder in a listing. */
interface Entry {
  /** Name within the folder: one path segment. */
  name: string;
  /** Bytes of a file; null for a folder. */
  size: number | null;
}

/** Sorts after every path in a folder. */
const behind = '\u{10FFFF}';
/** Maximum number of entries of a response. Clients do not page this list. */
const maxEntries = 10_000;

/**
 * List the direct entries of a folder, by name. For a subfolder, read one file and skip to the first key after the
 * subfolder. The cost grows with the entries, not with the files below them.
 */
export async function listFolder(
  { records }: Pick<MlflowContext, 'records'>,
  { home, path }: Place,
): Promise<Entry[]> {
  const folder = path === '' ? '' : `${path}/`;
  const entries = new Map<string, Entry>();
  let after: string | undefined;
  let isMore = true;
  while (isMore && entries.size < maxEntries) {
    const page = await listClientArtifacts(records, home, folder, { after });
    for (const { path: found, size } of page.items) {
      const [name = '', ...deeper] = found.slice(folder.length).split('/');
      if (!entries.has(name)) entries.set(name, { name, size: deeper.length === 0 ? size : null });
    }
    const last: Artifact | undefined = page.items.at(-1);
    const [name = '', ...deeper] = (last?.path ?? '').slice(folder.length).split('/');
    isMore = page.next !== undefined;
    after = deeper.length > 0 ? `${folder}${name}/${behind}` : page.next;
  }
  return [...entries.values()];
}
