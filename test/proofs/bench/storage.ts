import { createHash, randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { startS3Process } from '../../../infra/local/start/emulators/s3-process.ts';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { type Figure, figure, median } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { getBytes, putBytes } from './presigned-transfer.ts';
import { projectRoot } from './service-process.ts';

const region = 'us-east-1';
const bucket = 'bench';
const credentials = { accessKeyId: 'bench', secretAccessKey: 'secret of the bench' };

interface Size {
  name: string;
  bytes: number;
  /** Transfers of one turn, and turns. */
  times: number;
  turns: number;
}

const sizes: readonly Size[] = [
  { name: '1 KB', bytes: 1_000, times: 100, turns: 5 },
  { name: '1 MB', bytes: 1_000_000, times: 20, turns: 5 },
  { name: '300 MB', bytes: 300_000_000, times: 1, turns: 3 },
];

async function secondsOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  for (let time = 0; time < times; time += 1) await work();
  return (performance.now() - begun) / 1000;
}

/** The least cost of storing durably: the digest, the bytes, and waiting for the disk. */
async function writeFileSafely(path: string, bytes: Buffer): Promise<void> {
  createHash('sha256').update(bytes).digest();
  const file = await open(path, 'w');
  await file.writeFile(bytes);
  await file.sync();
  await file.close();
}

async function measureSize(objects: ObjectWriter, { folder, say }: Bench, size: Size): Promise<Figure[]> {
  say(size.name);
  const bytes = randomBytes(size.bytes);
  const key = `object-${size.bytes}`;
  const upload = await objects.presignUpload(
    key,
    bytes.length,
    createHash('sha256').update(bytes).digest('hex'),
  );
  const { GET: download } = await objects.presignDownload(key, 'object', 'application/octet-stream');
  const plain = join(folder, key);
  const put: number[] = [];
  const get: number[] = [];
  const putRatios: number[] = [];
  const getRatios: number[] = [];
  for (let turn = 0; turn < size.turns; turn += 1) {
    put.push(await secondsOf(size.times, () => putBytes(upload, bytes)));
    putRatios.push((put.at(-1) ?? 0) / (await secondsOf(size.times, () => writeFileSafely(plain, bytes))));
    get.push(await secondsOf(size.times, () => getBytes(download, bytes.length)));
    getRatios.push((get.at(-1) ?? 0) / (await secondsOf(size.times, () => readFile(plain))));
  }
  const megabytes = (size.bytes * size.times) / 1e6;
  const row = (what: string, seconds: number[], ratios: number[], plainly: string) =>
    figure(`${what} ${size.name}`, megabytes / median(seconds), 'MB/s', {
      remark: `${((median(seconds) / size.times) * 1000).toFixed(1)} ms each, ${median(ratios).toFixed(1)} × ${plainly}`,
    });
  return [
    row('PUT', put, putRatios, 'a plain file with SHA-256 and fsync'),
    row('GET', get, getRatios, 'reading a plain file'),
  ];
}

/** The S3 server, by presigned URLs with a signed SHA-256, as users transfer sources, data sets and artifacts. */
export const storage: Group = {
  name: 's3',
  title: 'S3 server: presigned PUT and GET, one at a time',

  async measure(bench) {
    const options = {
      folder: join(bench.folder, 's3'),
      region,
      credentials,
      buckets: [bucket],
      corsOrigins: [],
      port: 0,
    };
    const server = await startS3Process(join(projectRoot, 'infra/local/s3/main.ts'), options);
    bench.started.defer(() => server.close());
    const client = new S3Client({ region, credentials, endpoint: server.url, forcePathStyle: true });
    bench.started.defer(() => client.destroy());
    const objects = objectWriter(client, bucket);
    const found: Figure[] = [];
    for (const size of sizes) found.push(...(await measureSize(objects, bench, size)));
    return found;
  },
};
