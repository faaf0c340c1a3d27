import { dirname } from 'node:path';
import type { CommandUser } from '../../process/executable.ts';
import { supervise } from '../../process/supervise.ts';
import { containerName, killCommand, wrapCommand } from '../environment/container-command.ts';
import { engineEnvironment } from '../environment/operator-environment.ts';
import type { TrainingJob } from '../job/training-job.ts';
import type { Workspace } from '../job/workspace.ts';

const killSeconds = 20;

/** A command that runs inside a container of its own instead of beside the supervisor. */
export interface DockerCommand {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Kill the container when its client was killed. */
  end(): Promise<void>;
}

/** Run the user's command in a container of its image, with the run's folders at the same paths as outside. */
export function dockerCommand(
  { record: experiment, container }: TrainingJob,
  workspace: Workspace,
  image: string,
  [program, ...args]: readonly [string, ...string[]],
  variables: Readonly<Record<string, string>>,
  user: CommandUser | undefined,
): DockerCommand {
  const name = containerName(experiment.experiment_id, experiment.attempt, container.identity.node);
  const folder = (path: string, readOnly: boolean) => ({ source: path, target: path, readOnly });
  // The image has a PATH of its own.
  const { PATH: _, ...inside } = variables;
  const argv = wrapCommand([program, ...args], {
    name,
    image,
    user: user ?? { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
    cwd: workspace.source,
    mounts: [
      folder(workspace.source, false),
      folder(workspace.config, true),
      folder(workspace.data, true),
      ...[
        workspace.output,
        workspace.checkpoints,
        workspace.home,
        workspace.temporary,
        dirname(workspace.metrics),
      ].map((path) => folder(path, false)),
    ],
    env: inside,
    limits: { vcpus: experiment.vcpus, memory: experiment.memory, gpus: experiment.gpus },
    network: experiment.nodes > 1 ? 'host' : 'bridge',
  });
  const env = engineEnvironment(process.env);
  const end = async (): Promise<void> => {
    await supervise({
      argv: killCommand(name, 'SIGKILL'),
      cwd: workspace.own,
      env,
      timeoutSeconds: killSeconds,
      marker: { ...container.marker, value: `${container.marker.value}-end` },
      stop: new AbortController().signal,
      onOutput: () => undefined,
    });
  };
  return { argv, env, end };
}
