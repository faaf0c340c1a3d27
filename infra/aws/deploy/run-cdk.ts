import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Runs the CDK's command line, the version that the lock file pins, in this project. Returns its exit code.
 * Options of the deployment come as values of `-c`.
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

/** Send no usage data. */
const quiet = { CDK_DISABLE_CLI_TELEMETRY: 'true' };
