import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Run the CDK's command line in this project, with the version of the lock file. Return its exit code.
 * @param context values of `-c` with the deployment options
 */
export function runCdk(args: readonly string[], context: readonly string[] = []): number {
  const { status, error } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/aws-cdk/bin/cdk'), ...args, ...context.flatMap((one) => ['-c', one])],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...quiet } },
  );
  if (error !== undefined) throw error;
  return status ?? 1;
}

const root = join(import.meta.dirname, '../../..');

/** Turns off telemetry. */
const quiet = { CDK_DISABLE_CLI_TELEMETRY: 'true' };
