import type { LoggedModel, SourceFile, SourceRun } from '../source.ts';

/** A model as its tracker describes it. */
export interface DescribedModel {
  id: string;
  name: string;
  artifactUri: string;
}

/**
 * Give each logged model of a run a folder among the run's artifacts: its name, where MLflow 2 put it. Models of one name get
 * their ids, too.
 */
export function withFolders(models: readonly DescribedModel[]): LoggedModel[] {
  const counts = new Map<string, number>();
  for (const { name } of models) counts.set(name, (counts.get(name) ?? 0) + 1);
  return models.map(({ id, name, artifactUri }) => ({
    ...{ id, artifactUri },
    folder: counts.get(name) === 1 && name !== '' ? name : `${name || 'model'}-${id}`,
  }));
}

/** Yield the files of a run, then those of its logged models. A model makes way for artifacts that have its folder. */
export async function* withModelFiles(
  { loggedModels = [] }: SourceRun,
  artifacts: AsyncIterable<SourceFile>,
  filesOf: (model: LoggedModel) => AsyncIterable<SourceFile>,
): AsyncGenerator<SourceFile> {
  if (loggedModels.length === 0) return yield* artifacts;
  const files: SourceFile[] = [];
  for await (const file of artifacts) files.push(file);
  const taken = new Set(files.map(({ path }) => path.split('/', 1)[0]));
  for (const model of loggedModels) if (taken.has(model.folder)) model.folder += `-${model.id}`;
  yield* files;
  for (const model of loggedModels)
    for await (const { path, size } of filesOf(model)) yield { path: `${model.folder}/${path}`, size };
}

/** Find the logged model that a file of a run belongs to, and its path there; undefined if it is the run's own. */
export function modelOf(
  { loggedModels = [] }: SourceRun,
  path: string,
): { model: LoggedModel; below: string } | undefined {
  const model = loggedModels.find(({ folder }) => path.startsWith(`${folder}/`));
  return model && { model, below: path.slice(model.folder.length + 1) };
}
