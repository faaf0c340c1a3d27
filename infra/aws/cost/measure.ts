import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { bundleSources, findSources } from '../build/build-parts.ts';
import { startLocalEmulators } from './local-emulators.ts';
import { runBundles } from './run-bundles.ts';

/**
 * Bundle every function, and send each a valid request on new emulators. Return the duration and the DynamoDB
 * units of each. Set the environment of this process.
 *
 * @param usualMemory MiB of functions without their own setting
 */
export async function measureRequests(root: string, usualMemory: number): Promise<MeasuredRequest[]> {
  await using started = new AsyncDisposableStack();
  await mkdir(join(root, '.build'), { recursive: true });
  // Use a folder within the project, where functions find this machine's own picture codec.
  const folder = await mkdtemp(join(root, '.build/cost-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const { environment } = started.use(await startLocalEmulators());
  const meter = await startCapacityMeter(environment['DYNAMODB_ENDPOINT'] ?? '');
  started.defer(() => meter.close());
  Object.assign(process.env, environment, { DYNAMODB_ENDPOINT: meter.url });

  const sources = await findSources(root);
  await bundleSources(root, folder, sources);
  const memory = new Map(
    sources.endpoints.map(({ endpoint: { name, runtime } }) => [name, runtime?.memory ?? usualMemory]),
  );
  const measured: MeasuredRequest[] = [];
  await runBundles(
    root,
    folder,
    ({ name, status, milliseconds }) => {
      const memoryMiB = memory.get(name);
      const units = meter.take();
      if (memoryMiB !== undefined) measured.push({ name, status, milliseconds, units, memoryMiB });
    },
    () => void meter.take(),
  );
  return measured;
}

/** The measurement of one request of an endpoint. */
export interface MeasuredRequest {
  name: string;
  status: number;
  /** On this machine, in a warm process. */
  milliseconds: number;
  units: Units;
  memoryMiB: number;
}

/** DynamoDB request units, which on-demand tables are charged by. */
export interface Units {
  reads: number;
  writes: number;
}

const writing = /\.(TransactWriteItems|PutItem|UpdateItem|DeleteItem|BatchWriteItem)$/;

/** Start a proxy in front of a local DynamoDB that requests and sums the consumed units of every request. */
async function startCapacityMeter(emulator: string): Promise<CapacityMeter> {
  let used: Units = { reads: 0, writes: 0 };
  const server = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']);
    const body = JSON.parse(await text(request));
    const { authorization = '', 'x-amz-date': date = '' } = request.headers;
    const answer = await fetch(emulator, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': target,
        'X-Amz-Date': String(date),
        Authorization: authorization,
      },
      body: JSON.stringify({ ...body, ReturnConsumedCapacity: 'TOTAL' }),
    });
    const answered = await answer.text();
    const units = answer.ok ? unitsOf(answered) : 0;
    if (writing.test(target)) used.writes += units;
    else used.reads += units;
    response.writeHead(answer.status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(answered);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the meter has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    take() {
      const taken = used;
      used = { reads: 0, writes: 0 };
      return taken;
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface CapacityMeter {
  url: string;
  /** Return the units used since the last call. */
  take(): Units;
  close(): Promise<void>;
}

const text = async (request: IncomingMessage): Promise<string> => (await buffer(request)).toString('utf8');

const Capacity = z.object({ CapacityUnits: z.number() });

const Answer = z.object({ ConsumedCapacity: z.union([Capacity, z.array(Capacity)]).optional() });

function unitsOf(answer: string): number {
  const parsed = Answer.safeParse(JSON.parse(answer));
  const used = parsed.success ? parsed.data.ConsumedCapacity : undefined;
  return used === undefined ? 0 : [used].flat().reduce((sum, one) => sum + one.CapacityUnits, 0);
}
