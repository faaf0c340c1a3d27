import { chmod, writeFile } from 'node:fs/promises';
import { EnvironmentError } from '../environment-error.ts';
import { installerMessage } from './installer-message.ts';

export interface Command {
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The whole environment of the process; nothing is inherited. */
  env: Readonly<Record<string, string>>;
}

interface CommandResult {
  /** Null when the process did not start or ended by a signal. */
  exitCode: number | null;
  /** About the last 8 KB of its output, on both streams. */
  tail: string;
  /** Why there is no exit code. */
  message?: string;
}

/** Runs one process to its end, without a shell, as the unprivileged owner of the environment, and kills it on stop. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

/**
 * Runs one step of an installation.
 * @throws EnvironmentError `install-failed` with the installer's own words; `stopped` when the run was stopped
 */
export async function install(run: RunCommand, command: Command, stop: AbortSignal): Promise<void> {
  stopped(stop);
  const result = await run(command);
  stopped(stop);
  if (result.exitCode === 0) return;
  const how =
    result.exitCode === null ? (result.message ?? 'was killed') : `ended with exit code ${result.exitCode}`;
  const reported = installerMessage(result.tail);
  throw new EnvironmentError('install-failed', reported === '' ? `${command.argv[0]} ${how}` : reported);
}

/** @throws EnvironmentError `stopped` when the run is to end */
export function stopped(stop: AbortSignal): void {
  if (stop.aborted)
    throw new EnvironmentError('stopped', 'Stopped while the environment was prepared.', stop.reason);
}

/** Write a new file that an installer can read, also as another user and with any umask of the service. */
export async function writeReadable(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' });
  await chmod(path, 0o644);
}
