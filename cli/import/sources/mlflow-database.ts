import { dirname, join } from 'node:path';
import type { RunSource, SourceRun } from '../source.ts';
import { localArtifacts, omitElsewhere } from './mlflow-artifacts.ts';
import { Omissions } from './omissions.ts';
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
  return {
    ...source,
    async *runs(experiment) {
      for await (const run of source.runs(experiment)) {
        experiments.set(run, experiment.id);
        yield run;
      }
    },
    ...localArtifacts(folder, (run) => join(folder, experiments.get(run) ?? '', run.id)),
    omitted(run) {
      const elsewhere = new Omissions();
      omitElsewhere(run, elsewhere);
      return new Map([...(source.omitted?.(run) ?? []), ...elsewhere.counts]);
    },
  };
}
