import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoggedModel, RunSource, SourceFile, SourceRun } from '../source.ts';
import { filesBelow } from './files-below.ts';
import { modelOf, omitModelFacts, withModelFiles } from './logged-models.ts';
import type { Omissions } from './omissions.ts';
import { openLocal } from './open-local.ts';

/**
 * Read the files of runs and of their logged models that are on this machine.
 * @param root folder that has those of all runs
 * @param placeOf folder of a run, beside which its experiment has the models
 */
export function localArtifacts(
  root: string,
  placeOf: (run: SourceRun) => string,
): Pick<RunSource, 'files' | 'openFile'> {
  const folderOf = (run: SourceRun, model?: LoggedModel): Promise<string | undefined> =>
    model === undefined
      ? artifactFolder(root, run, placeOf(run))
      : artifactFolder(root, model, join(dirname(placeOf(run)), 'models', model.id));
  return {
    async *files(run) {
      yield* withModelFiles(run, filesIn(await folderOf(run)), async function* (model) {
        yield* filesIn(await folderOf(run, model));
      });
    },
    async openFile(run, { path, size }) {
      const { model, below = path } = modelOf(run, path) ?? {};
      return openLocal(join((await folderOf(run, model)) ?? '', below), size);
    },
  };
}

/**
 * Find the artifact folder of a run or logged model: next to its metadata, at its address, or where `mlflow server` stores
 * artifacts. An address that is not in MLflow's form could be any folder of this machine.
 * @param root folder that has those of all runs
 * @param place folder that it would have below it by its ids, which may be paths, too
 * @returns undefined if it is elsewhere, or not there
 */
async function artifactFolder(
  root: string,
  { id, artifactUri }: Pick<SourceRun, 'id' | 'artifactUri'>,
  place: string,
): Promise<string | undefined> {
  const [, served] = /^mlflow-artifacts:\/+(.+)$/.exec(artifactUri) ?? [];
  const local = artifactUri.startsWith('file:') ? localPath(artifactUri) : artifactUri;
  const other = join(served === undefined ? local : join(root, '..', 'mlartifacts', served), '.').replace(
    /\/$/,
    '',
  );
  const isOfRun = basename(other) === 'artifacts' && basename(dirname(other)) === id;
  if (isAbsolute(other) && isOfRun && (await isFolder(other))) return other;
  const [own, top] = await Promise.all(
    [join(place, 'artifacts'), root].map((path) => realpath(path).catch(() => undefined)),
  );
  return own?.startsWith(join(top ?? '', sep)) ? own : undefined;
}

/** Return the path of an address; a blank one for an address of another machine. */
function localPath(address: string): string {
  try {
    return fileURLToPath(address);
  } catch {
    return '';
  }
}

/** Yield regular files below a folder, with their sizes. */
export async function* filesIn(folder: string | undefined): AsyncGenerator<SourceFile> {
  if (folder === undefined || !(await isFolder(folder))) return;
  for await (const { path, isFile } of filesBelow(folder))
    if (isFile) yield { path, size: (await lstat(join(folder, path))).size };
}

/** Whether a folder is there, and not a link: the records of somebody else must not lead elsewhere. */
export const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Count what of a run and of its logged models is not brought because it is in a store elsewhere, or has no place here. */
export function omitElsewhere(run: SourceRun, omissions: Omissions): void {
  const storeOf = (address: string) => /^(?!file:|mlflow-artifacts:)([a-z][\w+.-]+:)\/\//i.exec(address)?.[1];
  const add = (what: string, address: string): void => {
    const store = storeOf(address);
    if (store !== undefined) omissions.add(`${what} are at ${store}`);
  };
  add('runs whose artifacts', run.artifactUri);
  for (const { artifactUri } of run.loggedModels ?? []) add('logged models whose files', artifactUri);
  omitModelFacts(run, omissions);
}

export const tracesOfMlflow = 'traces of MLflow';
