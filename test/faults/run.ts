// The long forms of the proofs, one after the other:
// `npm run test:faults [-- [--only <name>]… [--seeds 1,2,3] [--json <file>] [--short]]`.
import { chmod, glob, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type MeasuredGroup, renderTable, summary } from '../../infra/local/bench/table.ts';
import type { Bench, Proof } from './proof.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function loadProofs(): Promise<Proof[]> {
  const files = (await Array.fromAsync(glob('*.proof.ts', { cwd: import.meta.dirname }))).sort();
  return Promise.all(files.map(async (file) => (await import(`./${file}`)).proof as Proof));
}

/** Runs a proof in a folder of its own; one that fails is told in the table, and the others have their turn. */
async function prove(proof: Proof, chosen: Pick<Bench, 'size' | 'seeds'>): Promise<MeasuredGroup> {
  say(`${proof.title}…`);
  const begun = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'mps-faults-'));
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  const ended = (part: Pick<MeasuredGroup, 'figures' | 'failure'>): MeasuredGroup => {
    const seconds = (performance.now() - begun) / 1000;
    return { name: proof.name, title: `${proof.title} (${Math.round(seconds)} s)`, ...part, seconds };
  };
  try {
    await using started = new AsyncDisposableStack();
    const figures = await proof.prove({ folder, started, ...chosen, say: (line) => say(`  ${line}`) });
    return ended({ figures, failure: undefined });
  } catch (error) {
    say(`  ${error instanceof Error ? error.stack : String(error)}`);
    return ended({ figures: [], failure: error instanceof Error ? error.message : String(error) });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Ends with 0 just where every proof ran and every bound was met. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      seeds: { type: 'string', default: '1,2,3' },
      short: { type: 'boolean', default: false },
    },
  });
  const proofs = await loadProofs();
  const chosen = proofs.filter(({ name }) => values.only?.includes(name) ?? true);
  if (chosen.length === 0) throw new Error(`There are: ${proofs.map(({ name }) => name).join(', ')}`);
  const groups: MeasuredGroup[] = [];
  const size = values.short ? 'short' : 'long';
  const seeds = values.seeds.split(',').map(Number);
  for (const proof of chosen) groups.push(await prove(proof, { size, seeds }));
  if (values.json !== undefined) {
    await mkdir(dirname(values.json), { recursive: true });
    await writeFile(values.json, `${JSON.stringify(groups, null, 2)}\n`);
  }
  const [load = 0] = loadavg();
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load ${load.toFixed(1)}`;
  process.stdout.write(`\n${place}\n\n${renderTable(groups)}\n${summary(groups)}\n`);
  const failed = groups.some(
    ({ figures, failure }) => failure !== undefined || figures.some(({ bound }) => bound?.isMet === false),
  );
  return failed ? 1 : 0;
}

process.exit(await main());
