import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';

/** Request units of DynamoDB, by which on-demand tables are paid. */
export interface Units {
  reads: number;
  writes: number;
}

export interface CapacityMeter {
  url: string;
  /** Units that were used since the last call. */
  take(): Units;
  close(): Promise<void>;
}

const Capacity = z.object({ CapacityUnits: z.number() });
const Answer = z.object({ ConsumedCapacity: z.union([Capacity, z.array(Capacity)]).optional() });

const writing = /\.(TransactWriteItems|PutItem|UpdateItem|DeleteItem|BatchWriteItem)$/;

function unitsOf(answer: string): number {
  const parsed = Answer.safeParse(JSON.parse(answer));
  const used = parsed.success ? parsed.data.ConsumedCapacity : undefined;
  return used === undefined ? 0 : [used].flat().reduce((sum, one) => sum + one.CapacityUnits, 0);
}

const text = async (request: IncomingMessage): Promise<string> => (await buffer(request)).toString('utf8');

/** Stands before a local DynamoDB and asks it, with every request, for the units that the request uses. */
export async function startCapacityMeter(engine: string): Promise<CapacityMeter> {
  let used: Units = { reads: 0, writes: 0 };
  const server = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']);
    const body = JSON.parse(await text(request));
    const { authorization = '', 'x-amz-date': date = '' } = request.headers;
    const answer = await fetch(engine, {
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
