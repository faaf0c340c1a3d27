import { dirname, join } from 'node:path';
import type { LoggedModel, RunSource, SourceRun } from '../source.ts';
import { modelOf, withModelFiles } from './logged-models.ts';
import { artifactFolder, artifactsElsewhere, filesIn } from './mlflow-folder.ts';
import { openLocal } from './open-local.ts';
import { PythonReader } from './python-reader.ts';
import { pythonSource } from './python-source.ts';

/** Read the database `mlflow.db` of MLflow's server or client, and the artifacts that are on this machine. */
export async function mlflowDatabase(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunSource> {
  const folder = join(dirname(path), 'mlruns');
  const source = pythonSource(await PythonReader.start('mlflow_database', path, env), dirname(path));
  const experiments = new Map<SourceRun, string>();
  const artifactsOf = (run: SourceRun): Promise<string | undefined> =>
    artifactFolder(folder, run, join(folder, experiments.get(run) ?? '', run.id));
  const filesOfModel = (run: SourceRun, model: LoggedModel): Promise<string | undefined> =>
    artifactFolder(folder, model, join(folder, experiments.get(run) ?? '', 'models', model.id));
  return {
    ...source,
    async *runs(experiment) {
      for await (const run of source.runs(experiment)) {
        experiments.set(run, experiment.id);
        yield run;
      }
    },
    async *files(run) {
      yield* withModelFiles(run, filesIn(await artifactsOf(run)), async function* (model) {
        yield* filesIn(await filesOfModel(run, model));
      });
    },
    async openFile(run, { path: file, size }) {
      const { model, below = file } = modelOf(run, file) ?? {};
      const top = model ? await filesOfModel(run, model) : await artifactsOf(run);
      return openLocal(join(top ?? '', below), size);
    },
    omitted(run) {
      const elsewhere = artifactsElsewhere(run).map((reason) => [reason, 1] as const);
      return new Map([...(source.omitted?.(run) ?? []), ...elsewhere]);
    },
  };
}
