import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import type { TrainingRun } from '../job/training-job.ts';

const uriVariable = 'MLFLOW_TRACKING_URI';
const proxyVariables = ['HTTP_PROXY', 'ALL_PROXY', 'http_proxy', 'all_proxy'];
const loopback = '127.0.0.1';

/** How MLflow clients of a run's command find where they log to. */
export function trackingClients(
  { job, workspace, variables: { values } }: TrainingRun,
  { image }: Pick<PreparedEnvironment, 'image'>,
) {
  return {
    /**
     * False where the project names a tracking server of its own, or the command runs in a container with another
     * loopback address.
     */
    areServed: values[uriVariable] === undefined && (image === null || job.record.nodes > 1),

    /** The variables of a server on the loopback address, which no proxy of the project reaches. */
    reach(env: Readonly<Record<string, string>>): Record<string, string> {
      if (!proxyVariables.some((name) => values[name] !== undefined)) return { ...env };
      const past = (name: string) => ({ [name]: [values[name], loopback].filter(Boolean).join(',') });
      return { ...env, ...past('NO_PROXY'), ...past('no_proxy') };
    },

    /** Of a cluster node 0 records alone: the others log to a folder that ends with the run. */
    untracked: (): Record<string, string> => ({
      [uriVariable]: pathToFileURL(join(workspace.temporary, 'mlruns')).href,
      MLFLOW_ALLOW_FILE_STORE: 'true',
    }),
  };
}
