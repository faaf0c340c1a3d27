import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { thisHost } from './this-host.ts';

/** State of a GPU. A value that its driver does not report is null. */
export interface GpuState {
  index: number;
  name: string;
  driver: string;
  /** MiB. */
  memory: number;
  /** MiB. */
  memoryUsed: number | null;
  /** Percent of the time in which a kernel ran. */
  use: number | null;
  watts: number | null;
  maxWatts: number | null;
}

const columns = [
  'index',
  'name',
  'driver_version',
  'memory.total',
  'memory.used',
  'utilization.gpu',
  'power.draw',
  'enforced.power.limit',
];

/**
 * Watch the NVIDIA GPUs of this machine or container by one `nvidia-smi` that repeats its answer. Starting it each
 * time would initialize the driver each time. A machine without it has no GPUs.
 */
export function watchGpus(seconds: number, program = 'nvidia-smi') {
  const states = new Map<number, GpuState>();
  const args = [`--query-gpu=${columns.join(',')}`, '--format=csv,noheader,nounits', `--loop=${seconds}`];
  const command = thisHost.boundToParent(program, args);
  const child = spawn(command.file, command.args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', () => {});
  child.unref();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const state = parseGpuLine(line);
    if (state !== undefined) states.set(state.index, state);
  });
  return {
    /** Return the last known state of each GPU. */
    latest: (): GpuState[] => [...states.values()],
    stop: (): void => void child.kill('SIGKILL'),
  };
}

/** Parse a line of the columns above; undefined for anything else. */
export function parseGpuLine(line: string): GpuState | undefined {
  const [index, name = '', driver = '', memory, used, use, watts, maxWatts, ...more] = line
    .split(',')
    .map((cell) => cell.trim());
  const number = numberOf(index);
  if (number === null || maxWatts === undefined || more.length > 0) return undefined;
  return {
    index: number,
    name,
    driver,
    memory: numberOf(memory) ?? 0,
    memoryUsed: numberOf(used),
    use: numberOf(use),
    watts: numberOf(watts),
    maxWatts: numberOf(maxWatts),
  };
}

/** A cell that is not reported is `[N/A]` or a sentence. */
const numberOf = (cell: string | undefined): number | null =>
  cell !== undefined && /^\d+(?:\.\d+)?$/.test(cell) ? Number(cell) : null;
