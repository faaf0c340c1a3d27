// The long forms of the proofs, one after the other: `npm run proof -- faults`.
import { mkdir } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { writeDurably } from '../../../infra/local/batch/durable-file.ts';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { type MeasuredGroup, renderTable, summary } from '../bench/figure-table.ts';
import { loadProof, proofNames } from './load-proofs.ts';
import { proveApart } from './prove-apart.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Keeps what is known in a file, while it is being found out, too: a run that is broken off leaves its figures. */
async function keeper(
  json: string | undefined,
): Promise<(groups: readonly MeasuredGroup[]) => Promise<void>> {
  if (json === undefined) return async () => undefined;
  const file = givenPath(json);
  await mkdir(dirname(file), { recursive: true });
  let written = Promise.resolve();
  return (groups) => {
    const text = `${JSON.stringify(groups, null, 2)}\n`;
    written = written.then(() => writeDurably(file, text));
    return written;
  };
}

/** Aborted by whoever asks the run to end. A terminal that goes away does not: the run goes on, as under nohup. */
function stopOnRequest(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      say(`${signal}: the run ends here.`);
      stop.abort();
    });
  }
  process.on('SIGHUP', () => say('SIGHUP: the run goes on.'));
  // What it says may have nowhere to go any more.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return stop.signal;
}

const usage = (
  names: readonly string[],
) => `Usage: npm run proof -- faults [--only <name>]… [--seeds <numbers>] [--json <file>] [--short]
  --only   this proof alone: ${names.join(', ')}
  --seeds  of what is drawn, separated by commas (1,2,3)
  --json   keep the figures in this file, too, as they are found
  --short  the forms that npm test runs`;

/** Ends with 0 just where every proof ran and every bound was met. */
async function main(): Promise<number> {
  const names = await proofNames();
  const { values } = readFlags(usage(names), {
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      seeds: { type: 'string', default: '1,2,3' },
      short: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) throw new CommandError(`There is no proof ${unknown.join(', ')}.\n${usage(names)}`);
  const groups: MeasuredGroup[] = [];
  const size = values.short ? 'short' : 'long';
  const seeds = values.seeds.split(',').map(Number);
  if (!seeds.every(Number.isSafeInteger))
    throw new CommandError(`--seeds are whole numbers.\n${usage(names)}`);
  const chosen = await Promise.all(
    names.filter((name) => values.only?.includes(name) ?? true).map(loadProof),
  );
  const stop = stopOnRequest();
  const keep = await keeper(values.json);
  for (const proof of chosen) {
    if (stop.aborted) break;
    say(`${proof.title}…`);
    const onProgress = (soFar: MeasuredGroup): void => void keep([...groups, soFar]);
    groups.push(await proveApart(proof, { size, seeds, stop, onProgress }));
    await keep(groups);
  }
  const [load = 0] = loadavg();
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load ${load.toFixed(1)}`;
  process.stdout.write(`\n${place}\n\n${renderTable(groups)}\n${summary(groups)}\n`);
  const failed = groups.some(
    ({ figures, failure }) => failure !== undefined || figures.some(({ bound }) => bound?.isMet === false),
  );
  return failed || stop.aborted ? 1 : 0;
}

await runMain(main);
