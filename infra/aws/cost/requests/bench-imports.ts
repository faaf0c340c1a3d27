// `npm run proof -- bundle`: how long each bundle takes to import, beside a handler that does nothing and has the same
// clients of the AWS SDK. Pairs of fresh processes take turns, so that whatever else the machine does meets both; and it
// is the processor's time that counts, which waits for nobody.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Need } from '../../../../shared/core/needs.ts';
import { allNeeds } from '../../../../shared/http/definition/all-needs.ts';
import { readFlags } from '../../../command/read-flags.ts';
import { runMain } from '../../../command/run-main.ts';
import { bundleSources, findSources } from '../../build/build-parts.ts';
import { emptyHandlers } from '../../build/empty-handlers.ts';

/** A bundle may take so much longer than the empty handler beside it. */
const bound = 1.3;
const pairs = Number(process.env['BENCH_PAIRS'] ?? 9);
const root = join(import.meta.dirname, '../../../..');

const measuring = `
const started = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(started);
process.stdout.write(String((user + system) / 1000));
process.exit(0);
`;

async function importMilliseconds(file: string): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', measuring, pathToFileURL(file).href], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
  });
  await once(child, 'close');
  return Number(text);
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** Medians of both, measured in turns. */
async function compare(bundle: string, empty: string): Promise<{ bundle: number; empty: number }> {
  const times: { bundle: number[]; empty: number[] } = { bundle: [], empty: [] };
  for (let turn = 0; turn < pairs; turn += 1) {
    times.bundle.push(await importMilliseconds(bundle));
    times.empty.push(await importMilliseconds(empty));
  }
  return { bundle: median(times.bundle), empty: median(times.empty) };
}

/** Kinds of clients that needs are opened by, in the order of the alphabet. */
const clientsOf = (needs: readonly Need<unknown>[]): string =>
  [
    ...new Set(
      needs.map(({ resource }) => (resource === 'accounts' || resource === 'records' ? 'tables' : resource)),
    ),
  ]
    .sort()
    .join('-');

const usage =
  'Usage: npm run proof -- bundle\n  imports the bundle of each function in a fresh process, beside an empty handler with the same clients';

/** `npm run proof -- bundle`: ends with 0 just where the bound is met. */
async function benchImports(): Promise<number> {
  readFlags(usage, {});
  await mkdir(join(root, '.build'), { recursive: true });
  const folder = await mkdtemp(join(root, '.build/bench-'));
  try {
    const sources = await findSources(root);
    const bundles = new Map(
      (await bundleSources(root, join(folder, 'functions'), sources)).map((bundle) => [bundle.name, bundle]),
    );
    const functions = [
      ...sources.endpoints.map(({ endpoint }) => ({
        name: endpoint.name,
        clients: clientsOf(allNeeds(endpoint)),
      })),
      ...sources.events.map(({ name, needs }) => ({ name, clients: clientsOf(Object.values(needs)) })),
    ];
    const kinds = [...new Set(functions.map(({ clients }) => clients))];
    await emptyHandlers(root, join(folder, 'empty'), kinds);
    let worst = 0;
    process.stdout.write(`${'import of'.padEnd(28)}  bundle   empty   ratio\n`);
    for (const { name, clients } of functions) {
      const file = join(bundles.get(name)?.folder ?? '', 'index.mjs');
      const times = await compare(file, join(folder, 'empty', clients, 'index.mjs'));
      const ratio = times.bundle / times.empty;
      worst = Math.max(worst, ratio);
      const columns = [times.bundle.toFixed(0), times.empty.toFixed(0), ratio.toFixed(2)].map((cell) =>
        cell.padStart(6),
      );
      process.stdout.write(`${name.padEnd(28)}  ${columns.join('  ')}\n`);
    }
    process.stdout.write(`worst: ${worst.toFixed(2)} ×, bound ${bound} ×\n`);
    return worst <= bound ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await runMain(benchImports);
