interface ContainerMount {
  /** Absolute path on the host. */
  source: string;
  /** Absolute path in the container. */
  target: string;
  readOnly: boolean;
}

export interface ContainerRun {
  /** From `containerName`; `killCommand` takes it. */
  name: string;
  /** Content id or reference of the image. */
  image: string;
  user: { uid: number; gid: number };
  cwd: string;
  mounts: readonly ContainerMount[];
  env: Readonly<Record<string, string>>;
  /** File of further variables, a name and its value on each line. */
  envFile?: string;
  /** Names of variables that the container gets from the environment of the client. */
  inherited?: readonly string[];
  /** `memory` in MiB. */
  limits: { vcpus?: number; memory?: number; gpus?: number; processes?: number };
  /** `bridge` (default) has its own address; `host` is for the nodes of a remote training on one machine. */
  network?: 'none' | 'bridge' | 'host';
}

/** Return the container's name for one node of one attempt of an experiment. Ids are lower-case ULIDs. */
export function containerName(experimentId: string, attempt: number, node: number): string {
  return `training-${experimentId.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}-${attempt}-${node}`;
}

/**
 * Build the `docker run` that runs a command inside the image as an unprivileged user, without capabilities, and
 * removes the container at its end. It runs in the foreground: it forwards SIGTERM and ends with the command's
 * exit code. SIGKILL reaches only the client, so a forced stop also needs `killCommand`.
 */
export function wrapCommand(
  argv: readonly [string, ...string[]],
  container: ContainerRun,
): [string, ...string[]] {
  const { limits, user } = container;
  const [program, ...args] = argv;
  return [
    ...(['docker', 'run', '--rm', '--init', '--name', container.name] as const),
    ...['--user', `${user.uid}:${user.gid}`, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--network', container.network ?? 'bridge', '--pids-limit', String(limits.processes ?? 4096)],
    ...(limits.vcpus === undefined ? [] : ['--cpus', String(limits.vcpus)]),
    // A swap limit equal to the memory limit means no swap.
    ...(limits.memory === undefined
      ? []
      : ['--memory', `${limits.memory}m`, '--memory-swap', `${limits.memory}m`]),
    ...(limits.gpus === undefined || limits.gpus === 0 ? [] : ['--gpus', String(limits.gpus)]),
    ...container.mounts.flatMap((mount) => ['--mount', mountOption(mount)]),
    ...Object.entries(container.env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...(container.envFile === undefined ? [] : ['--env-file', container.envFile]),
    ...(container.inherited ?? []).flatMap((name) => ['--env', name]),
    ...['--workdir', container.cwd, '--pull', 'never', '--entrypoint', program, container.image],
    ...args,
  ];
}

/** `--mount` is one line of CSV, so paths may hold commas and quotes. */
function mountOption({ source, target, readOnly }: ContainerMount): string {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(readOnly ? ['readonly'] : [])];
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

/** Build the command that sends a signal to the container. It fails harmlessly if the container is gone. */
export function killCommand(name: string, signal: 'SIGTERM' | 'SIGKILL'): [string, ...string[]] {
  return ['docker', 'kill', '--signal', signal, name];
}
