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

/** The variables of a run: what the service gives its command, and those of its project. */
interface RunVariables {
  own: Readonly<Record<string, string>>;
  project: Readonly<Record<string, string>>;
}

/** Run the user's command in a container of its image, with the run's folders at the same paths as outside. */
export function dockerCommand(
  { record: experiment, container }: TrainingJob,
  workspace: Workspace,
  image: string,
  [program, ...args]: readonly [string, ...string[]],
  { own, project }: RunVariables,
  user: CommandUser | undefined,
): DockerCommand {
  const engine = engineEnvironment(process.env);
  const name = containerName(experiment.experiment_id, experiment.attempt, container.identity.node);
  const folder = (path: string, readOnly: boolean) => ({ source: path, target: path, readOnly });
  // The image has a PATH of its own.
  const { PATH: _, ...inside } = own;
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
    // Values of the project stand in no argument: everybody on this machine can read command lines.
    inherited: Object.keys(project).filter((name) => !Object.hasOwn(engine, name)),
    limits: { vcpus: experiment.vcpus, memory: experiment.memory, gpus: experiment.gpus },
    network: experiment.nodes > 1 ? 'host' : 'bridge',
  });
  const env = { ...project, ...engine };
  const end = async (): Promise<void> => {
    await supervise({
      argv: killCommand(name, 'SIGKILL'),
      cwd: workspace.own,
      env: engine,
      timeoutSeconds: killSeconds,
      marker: { ...container.marker, value: `${container.marker.value}-end` },
      stop: new AbortController().signal,
      onOutput: () => undefined,
    });
  };
  return { argv, env, end };
}
