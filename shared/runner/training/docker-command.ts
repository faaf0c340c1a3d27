import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isReserved } from '../../data/projects/variable-rules.ts';
import type { CommandUser } from '../../host/host.ts';
import { supervise } from '../../process/supervise.ts';
import { containerName, killCommand, wrapCommand } from '../environment/container-command.ts';
import { engineEnvironment } from '../environment/operator-environment.ts';
import type { TrainingJob } from '../job/training-job.ts';
import type { Workspace } from '../job/workspace.ts';

/** A command that runs in its own container and not next to the supervisor. */
export interface DockerCommand {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Kill the container after its client was killed. */
  end(): Promise<void>;
  /** Remove the file of its variables. */
  forget(): Promise<void>;
}

/** The variables of a run: those of the service and those of the project. */
interface RunVariables {
  own: Readonly<Record<string, string>>;
  project: Readonly<Record<string, string>>;
}

const killSeconds = 20;

/** Run the user's command in a container of its image. The run's folders have the same paths as outside. */
export async function dockerCommand(
  { record: experiment, container }: TrainingJob,
  workspace: Workspace,
  image: string,
  [program, ...args]: readonly [string, ...string[]],
  { own, project }: RunVariables,
  user: CommandUser | undefined,
): Promise<DockerCommand> {
  const engine = engineEnvironment(process.env);
  const name = containerName(experiment.experiment_id, experiment.attempt, container.identity.node);
  const folder = (path: string, readOnly: boolean) => ({ source: path, target: path, readOnly });
  // The image has its own PATH, and each container its own /tmp.
  const { PATH: _, ...inside } = own;
  const { file, inherited } = handedOver(project, engine);
  const envFile = join(workspace.own, 'variables.env');
  if (file !== '') await writeFile(envFile, file, { mode: 0o600 });
  const argv = wrapCommand([program, ...args], {
    name,
    image,
    user: user ?? { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
    cwd: workspace.folder,
    mounts: [
      folder(workspace.source, false),
      folder(workspace.config, true),
      folder(workspace.data, true),
      ...[workspace.output, workspace.checkpoints, workspace.home, dirname(workspace.metrics)].map((path) =>
        folder(path, false),
      ),
      { source: workspace.temporaryFiles, target: '/tmp', readOnly: false },
    ],
    env: { ...inside, TMPDIR: '/tmp' },
    // Values of the project are in no argument: every user of this machine can read command lines.
    ...(file !== '' && { envFile }),
    inherited: Object.keys(inherited),
    limits: { vcpus: experiment.vcpus, memory: experiment.memory, gpus: experiment.gpus },
    network: experiment.nodes > 1 ? 'host' : 'bridge',
  });
  const env = { ...inherited, ...engine };
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
  return { argv, env, end, forget: () => rm(envFile, { force: true }) };
}

/** Names that Go's standard library and the engine's client read from their environment. */
const readByClient =
  /^(?:GO|SSL_|XDG_|OTEL_|BUILDKIT_|BUILDX_|COMPOSE_|PODMAN_|CONTAINER|(?:HTTPS?|ALL|NO)_PROXY$)/i;

/**
 * Split the project's variables for the engine's client, a program with the operator's rights. It reads them from a
 * file. A value of several lines does not fit into that file and is passed in the client's environment, unless
 * programs or the client itself read a variable of that name.
 */
function handedOver(project: RunVariables['project'], engine: Readonly<Record<string, string>>) {
  const given = Object.entries(project).filter(([name]) => !isReserved(name));
  const [lines, multiline] = [
    given.filter(([, value]) => fitsLine(value)),
    given.filter(([, value]) => !fitsLine(value)),
  ];
  return {
    file: lines.map(([name, value]) => `${name}=${value}\n`).join(''),
    inherited: Object.fromEntries(
      multiline.filter(([name]) => !Object.hasOwn(engine, name) && !readByClient.test(name)),
    ),
  };
}

/** Whether a variables file can hold a value on one line. A line break would end it and cannot be escaped. */
const fitsLine = (value: string): boolean => !/[\r\n]/.test(value);
