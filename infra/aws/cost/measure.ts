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
 * Bundles every function and sends each a good request, on emulators of its own; returns the time of each and its units
 * of DynamoDB. Sets the environment of this process.
 *
 * @param usualMemory MiB of functions without a setting of their own
 */
export async function measureRequests(root: string, usualMemory: number): Promise<MeasuredRequest[]> {
  await using started = new AsyncDisposableStack();
  await mkdir(join(root, '.build'), { recursive: true });
  // Within the project, so that this machine's own picture codec is found.
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

/** One request of an endpoint, as it was measured. */
export interface MeasuredRequest {
  name: string;
  status: number;
  /** On this machine, in a process that has answered before. */
  milliseconds: number;
  units: Units;
  memoryMiB: number;
}

/** Request units of DynamoDB, by which on-demand tables are paid. */
export interface Units {
  reads: number;
  writes: number;
}

const writing = /\.(TransactWriteItems|PutItem|UpdateItem|DeleteItem|BatchWriteItem)$/;

/** Stands before a local DynamoDB and asks it, with every request, for the units that the request uses. */
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
  /** Units that were used since the last call. */
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
