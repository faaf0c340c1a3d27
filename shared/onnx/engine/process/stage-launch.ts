import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { offerToOomKiller } from '../../../process/oom-killer.ts';
import { launchAs } from '../../../process/privileges.ts';
import type { Sandbox } from '../../../process/sandbox.ts';
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

const prlimit = '/usr/bin/prlimit';

async function limited(command: readonly string[], memoryBytes: number): Promise<readonly string[]> {
  if (process.platform !== 'linux') return command;
  try {
    await access(prlimit, constants.X_OK);
  } catch {
    return command;
  }
  return [prlimit, `--data=${Math.round(memoryBytes + reservedBytes)}`, '--core=0', '--', ...command];
}

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
  const [program = '', ...args] = await limited(command, memoryBytes);
  const env = { HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', ...largePages };
  const launch = await launchAs({ user, program, args, env, cwd: folder, sandbox });
  const child = spawn(launch.file, launch.args, {
    ...launch.options,
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  await once(child, 'spawn');
  offerToOomKiller(child.pid);
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
