import { EnvironmentError } from './environment-error.ts';
import { type RunCommand, stopped } from './install/installer.ts';
import { installerMessage } from './install/installer-message.ts';

const noEngine =
  'A docker environment needs a container engine: install Docker, start it, and let the user who runs the service use it (`docker info` must work).';

export interface PreparedImage {
  /** The image's content id (`sha256:…`), which later commands use instead of a tag that may move. */
  id: string;
  pulled: boolean;
}

/**
 * Finds the engine and the image, pulling the image when the engine does not have it.
 * These commands talk to the engine with the service's own rights; nothing of the image runs here.
 * @throws EnvironmentError `engine-missing`; `install-failed` with the engine's own words
 */
export async function prepareImage(
  reference: string,
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
  stop: AbortSignal,
): Promise<PreparedImage> {
  const docker = async (...args: string[]) => {
    stopped(stop);
    const result = await run({ argv: ['docker', ...args], cwd, env });
    stopped(stop);
    return result;
  };
  const info = await docker('info', '--format', '{{.ServerVersion}}');
  if (info.exitCode !== 0) throw new EnvironmentError('engine-missing', noEngine);

  const inspect = async () => {
    const result = await docker('image', 'inspect', '--format', '{{.Id}}', reference);
    return result.exitCode === 0 ? /\bsha256:[0-9a-f]{64}\b/.exec(result.tail)?.[0] : undefined;
  };
  const present = await inspect();
  if (present !== undefined) return { id: present, pulled: false };
  const pull = await docker('pull', '--quiet', reference);
  const pulled = pull.exitCode === 0 ? await inspect() : undefined;
  if (pulled !== undefined) return { id: pulled, pulled: true };
  throw new EnvironmentError(
    'install-failed',
    installerMessage(pull.tail) || `docker could not pull ${reference}`,
  );
}
