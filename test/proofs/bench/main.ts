import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { type BenchOptions, readOptions } from './bench-options.ts';
import { commandLine } from './cli/command-line.ts';
import { counts } from './counts.ts';
import { demoEnvironment } from './demo-environment.ts';
import { environmentCache } from './environment-cache.ts';
import { type MeasuredGroup, renderMarkdown, renderTable, summary } from './figure-table.ts';
import { firstLine } from './first-line.ts';
import type { Bench, Group } from './group.ts';
import { growth } from './growth.ts';
import { logShipping } from './log-shipping.ts';
import { queue } from './queue.ts';
import { requests } from './requests.ts';
import { runnerOverhead } from './runner-overhead.ts';
import { startUp } from './start-up.ts';
import { storage } from './storage.ts';
import { tracking } from './tracking/tracking.ts';

const groups: readonly Group[] = [
  counts,
  requests,
  growth,
  queue,
  startUp,
  firstLine,
  runnerOverhead,
  logShipping,
  environmentCache,
  demoEnvironment,
  storage,
  commandLine,
  tracking,
];

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Ends the bench; other errors end one group of it. */
class InterruptedError extends CommandError {}

/** Measure a group in its own folder. An error becomes a row of the table beside the other figures. */
async function measure(
  group: Group,
  options: BenchOptions,
  interrupted: Promise<never>,
): Promise<MeasuredGroup> {
  say(`${group.title}…`);
  const begun = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'mps-bench-'));
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  const ended = (part: Pick<MeasuredGroup, 'figures' | 'failure'>): MeasuredGroup => ({
    name: group.name,
    title: group.title,
    ...part,
    seconds: (performance.now() - begun) / 1000,
  });
  try {
    await using started = new AsyncDisposableStack();
    const bench: Bench = {
      folder,
      started,
      ...options,
      say: (line) => say(`  ${line}`),
    };
    return ended({ figures: await Promise.race([group.measure(bench), interrupted]), failure: undefined });
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    say(`  ${error instanceof Error ? error.stack : String(error)}`);
    return ended({ figures: [], failure: error instanceof Error ? error.message : String(error) });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Groups whose bounds no other work of the machine can miss. */
const short: readonly Group[] = [counts];

const tableFile = 'test/proofs/bench/figures.md';

/**
 * `npm run proof -- bench`: ends with 0 also where a bound is missed, for the machine may have had other work. With
 * `--short` it ends with 1.
 */
async function bench(args: readonly string[]): Promise<number> {
  const options = readOptions(
    args,
    groups.map(({ name }) => name),
  );
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(new InterruptedError('Interrupted.'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  });
  // Between two groups no code may be awaiting it.
  interrupted.catch(() => undefined);
  const started_at = new Date().toISOString();
  const measured: MeasuredGroup[] = [];
  for (const group of options.isShort ? short : groups) {
    if (options.only !== undefined && !options.only.includes(group.name)) continue;
    measured.push(await measure(group, options, interrupted));
  }
  const machine = `${process.platform}-${process.arch}`;
  const [load = 0] = loadavg();
  const place = { node: process.version, machine, cpus: availableParallelism(), load };
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify({ started_at, ...place, groups: measured }, null, 2)}\n`);
  const head = `Node ${process.version}, ${machine}, ${place.cpus} CPUs, load ${load.toFixed(1)}`;
  process.stdout.write(`\n${head}\n\n${renderTable(measured)}\n${summary(measured)}\n`);
  say(`Written to ${options.json}.`);
  if (options.withTable) {
    await writeFile(tableFile, renderMarkdown(measured, { head, day: started_at.slice(0, 10) }));
    say(`Written to ${tableFile}.`);
  }
  const isMissed = measured.some(
    ({ figures, failure }) => failure !== undefined || figures.some(({ bound }) => bound?.isMet === false),
  );
  return options.isShort && isMissed ? 1 : 0;
}

await runMain(() => bench(process.argv.slice(2)));
