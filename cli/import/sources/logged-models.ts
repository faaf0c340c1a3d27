import type { LoggedModel, Pair, SourceFile, SourceRun } from '../source.ts';
import type { Omissions } from './omissions.ts';

/** A model as its tracker describes it. */
export interface DescribedModel {
  id: string;
  name: string;
  artifactUri: string;
  params: readonly Pair[];
  tags: readonly Pair[];
}

/**
 * Give each logged model of a run a folder among the run's artifacts: its name, where MLflow 2 put it. Models of one name get
 * their ids, too.
 */
export function withFolders(
  models: readonly DescribedModel[],
  { params }: Pick<SourceRun, 'params'>,
): LoggedModel[] {
  const ofRun = new Set(params.map(({ key, value }) => JSON.stringify([key, value])));
  const counts = new Map<string, number>();
  for (const { name } of models) counts.set(name, (counts.get(name) ?? 0) + 1);
  return models.map(({ id, name, artifactUri, params: itsParams, tags }) => ({
    ...{ id, artifactUri },
    // MLflow gives a model the params of its run, and tags of MLflow itself.
    ownFacts:
      itsParams.filter(({ key, value }) => !ofRun.has(JSON.stringify([key, value]))).length +
      tags.filter(({ key }) => !key.startsWith('mlflow.')).length,
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

/** Count what of the models of a run is not brought. */
export function omitModelFacts({ loggedModels = [] }: SourceRun, omissions: Omissions): void {
  const facts = loggedModels.reduce((sum, { ownFacts }) => sum + ownFacts, 0);
  if (facts > 0) omissions.add('params and tags of logged models', facts);
}

/** Groups models by the run that logged them, and counts those that no run has. */
export class ModelsByRun {
  readonly #models = new Map<string, DescribedModel[]>();
  readonly #beside: Omissions;

  constructor(beside: Omissions) {
    this.#beside = beside;
  }

  add(run: string, model: DescribedModel): void {
    const others = this.#models.get(run);
    if (run === '') this.#beside.add('logged models without a run');
    else if (others === undefined) this.#models.set(run, [model]);
    else others.push(model);
  }

  /** Describe the models of a run. */
  describe(run: SourceRun): void {
    const models = this.#models.get(run.id);
    if (models !== undefined) run.loggedModels = withFolders(models, run);
  }
}
