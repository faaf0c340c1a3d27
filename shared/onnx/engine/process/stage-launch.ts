import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, isAbsolute } from 'node:path';
import type { Sandbox } from '../../../host/host.ts';
import { thisHost } from '../../../host/this-host.ts';
import type { StageTask } from '../../measure/session/stage-task.ts';

export interface StageUser {
  uid: number;
  gid: number;
}

interface StageLaunch {
  command: readonly string[];
  user: StageUser | undefined;
  folder: string;
  sandbox: Sandbox | undefined;
  memoryBytes: number;
}

/**
 * Extra address space beyond the memory limit. Node itself reserves 600 MB that it never touches. The kernel also
 * enforces this limit between two measurements of the resident memory.
 */
const reservedBytes = 2 ** 30;

/**
 * Asks glibc for large pages. A model's bytes are mostly touched once, and the first touch of each small page
 * causes a page fault. The faults took a sixth of a quantization's CPU time. Other C libraries ignore the
 * variable.
 */
const largePages = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' };

/**
 * Start a stage's process as the leader of its own session. It inherits no environment variables. Descriptor 3 is
 * a pipe for its messages.
 */
export async function launchStage({
  command,
  user,
  folder,
  sandbox,
  memoryBytes,
}: StageLaunch): Promise<ChildProcess> {
  const [program = '', ...args] = await thisHost.withMemoryLimit(command, memoryBytes + reservedBytes);
  const env = { HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', ...largePages, ...thisHost.variables };
  const launch = await thisHost.launchAs({ user, program, args, env, cwd: folder, sandbox });
  const child = spawn(launch.file, launch.args, {
    ...launch.options,
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  child.once('exit', thisHost.endWithThisProcess(child));
  await once(child, 'spawn');
  thisHost.offerToOomKiller(child.pid);
  return child;
}

/** Fields of tasks that contain paths. Other fields may look like paths but be names of nodes. */
const pathFields: ReadonlySet<string> = new Set([
  'model',
  'before',
  'after',
  'observed',
  'out',
  'work',
  'set',
]);

/** Return the folders that a task names. */
export function stageFolders(task: StageTask): string[] {
  const feed = 'feed' in task ? task.feed : {};
  const tried = task.kind === 'open' && task.trial !== undefined ? [task.trial] : [];
  const raced = task.kind === 'race' ? [task.file, task.base ?? task.file] : [];
  const values: [string, unknown][] = [
    ...Object.entries(task),
    ...Object.entries(feed),
    ...tried.flatMap(({ before, feed: { set } }) => Object.entries({ before, set })),
    ...raced.flatMap(({ path, feed: { set } }) => Object.entries({ model: path, set })),
  ];
  return values
    .filter(([name]) => pathFields.has(name))
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === 'string')
    .filter((value) => isAbsolute(value))
    .map((path) => dirname(path));
}
