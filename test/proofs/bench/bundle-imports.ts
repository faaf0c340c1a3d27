// `npm run proof -- bundle`: compares how long each bundle takes to import with an empty handler that has the same clients
// of the AWS SDK. Pairs of fresh processes take turns, so other load on the machine affects both alike. It compares
// processor time, which does not include waiting.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundleSources, findSources } from '../../../infra/aws/build/build-parts.ts';
import { purePackages } from '../../../infra/aws/build/function-bundles.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { bundleOptions } from '../../../infra/service/bundle-options.ts';
import type { Need } from '../../../shared/core/needs.ts';
import { allNeeds } from '../../../shared/http/definition/definition.ts';

/** `npm run proof -- bundle`: exits with 0 if every bundle is within the bound. */
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

const usage =
  'Usage: npm run proof -- bundle\n  compares the import time of each bundle with that of an empty handler with the same clients';

const root = join(import.meta.dirname, '../../..');

/** The kinds of clients that open the needs, sorted. */
const clientsOf = (needs: readonly Need<unknown>[]): string =>
  [
    ...new Set(
      needs.map(({ resource }) => (resource === 'accounts' || resource === 'records' ? 'tables' : resource)),
    ),
  ]
    .sort()
    .join('-');

/** Code that creates the clients of each kind of need, as functions do. */
const clients: Readonly<Record<string, string>> = {
  tables: `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
used.push(() => DynamoDBDocumentClient.from(new DynamoDBClient({})), BatchGetCommand, GetCommand, QueryCommand, TransactWriteCommand);`,
  objects: `import * as s3 from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
used.push(() => new s3.S3Client({}), s3.CopyObjectCommand, s3.DeleteObjectsCommand, s3.GetObjectCommand, s3.HeadObjectCommand, s3.ListObjectsV2Command, s3.PutObjectCommand, Upload, getSignedUrl);`,
  batch: `import * as batch from '@aws-sdk/client-batch';
used.push(() => new batch.BatchClient({}), batch.DescribeJobsCommand, batch.ListJobsCommand, batch.SubmitJobCommand, batch.TerminateJobCommand);`,
};

/**
 * Bundle handlers that only create clients of the AWS SDK, with the options of real functions.
 *
 * @param kinds sets of clients, such as `objects-tables`; each is bundled into the folder of its name
 */
async function emptyHandlers(root: string, folder: string, kinds: readonly string[]): Promise<void> {
  const { plugins, ...options } = bundleOptions;
  for (const kind of kinds) {
    const parts = kind.split('-').map((one) => clients[one] ?? '');
    const imports = parts.flatMap((part) => part.split('\n').filter((line) => line.startsWith('import')));
    const uses = parts.flatMap((part) => part.split('\n').filter((line) => line.startsWith('used')));
    await build({
      ...options,
      absWorkingDir: root,
      stdin: {
        contents: `${imports.join('\n')}\nexport const used = [];\n${uses.join('\n')}\nexport const handler = async () => ({ statusCode: 200 });`,
        resolveDir: root,
      },
      outfile: `${folder}/${kind}/index.mjs`,
      plugins: [purePackages, ...plugins],
      splitting: false,
      sourcemap: false,
      minify: true,
    });
  }
}

const pairs = Number(process.env['BENCH_PAIRS'] ?? 9);

/** Medians of both, measured alternately. */
async function compare(bundle: string, empty: string): Promise<{ bundle: number; empty: number }> {
  const times: { bundle: number[]; empty: number[] } = { bundle: [], empty: [] };
  for (let turn = 0; turn < pairs; turn += 1) {
    times.bundle.push(await importMilliseconds(bundle));
    times.empty.push(await importMilliseconds(empty));
  }
  return { bundle: median(times.bundle), empty: median(times.empty) };
}

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

/** Highest allowed ratio of a bundle's time to that of its empty handler. */
const bound = 1.3;

await runMain(benchImports);
