import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { isAllowed, type RequestedAction, tableArn } from '../access/is-allowed.ts';
import { type Credentials, SessionReader } from '../access/session-credentials.ts';
import { SignatureError, verifySignature } from '../access/verify-signature.ts';
import type { EmulatorAddress } from './start-dynamodb.ts';

/**
 * Serve an emulator that checks no signatures, and require signatures for DynamoDB with the credentials, or with those of
 * a session, whose role is held to its statements. It responds to no preflight, and with an error to every request of a
 * page without the credentials.
 */
export async function startSignedProxy(options: SignedProxyOptions): Promise<RunningProxy> {
  const { host, emulator, region, credentials } = options;
  const agent = new Agent({ keepAlive: true });
  const bodies = new BodyReader();
  const sessions = new SessionReader(credentials);
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = message;
    // Cheap, and before the body: who names other credentials is not read at all.
    if (!headers.authorization?.includes(`Credential=${credentials.accessKeyId}/`)) {
      throw new SignatureError('MissingAuthenticationTokenException', 'Missing Authentication Token');
    }
    const body = await bodies.read(message);
    verifySignature({ method, path, headers, body }, { region, service: 'dynamodb' }, credentials);
    if (method !== 'POST' || path !== '/') throw new DynamoDbError(404, 'UnknownOperationException', '');
    const token = headers['x-amz-security-token'];
    if (token !== undefined) requireGrants(sessions, String(token), String(headers['x-amz-target']), body);
    await forward(message, body, response, emulator, agent);
  };
  const server = createServer(
    { requestTimeout: requestMs, keepAliveTimeout: 120_000 },
    (message, response) => {
      serve(message, response).catch((error: unknown) => refuse(message, response, error));
    },
  );
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The proxy has no port.');
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

interface SignedProxyOptions {
  /** Address that it listens on, on any free port. */
  host: string;
  /** Where the emulator listens. */
  emulator: EmulatorAddress;
  region: string;
  credentials: Credentials;
}

export interface RunningProxy {
  url: string;
  close(): Promise<void>;
}

/** The largest request that DynamoDB takes, BatchWriteItem's, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024;

/** A body counts from its start, before its signature can be checked; this bounds all of them together. */
const maxBufferedBytes = 4 * maxBodyBytes;

/** Reads bodies of requests, all of them together within a limit. */
class BodyReader {
  #buffered = 0;

  /** @throws DynamoDbError for a body that is too large, or while too many are read */
  async read(message: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of message.iterator({ destroyOnReturn: false })) {
        size += chunk.length;
        this.#buffered += chunk.length;
        if (size > maxBodyBytes)
          throw new DynamoDbError(413, 'RequestEntityTooLarge', 'The request is too large');
        if (this.#buffered > maxBufferedBytes) {
          throw new DynamoDbError(503, 'ServiceUnavailable', 'Too many requests at once');
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } finally {
      this.#buffered -= size;
    }
  }
}

/** An error in the protocol of DynamoDB. */
class DynamoDbError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Check what the role of a session grants, whose token was signed. @throws DynamoDbError */
function requireGrants(sessions: SessionReader, token: string, target: string, body: Buffer): void {
  const session = sessions.read(token);
  if (session !== undefined) sessions.keep(token, session);
  for (const asked of requestedActions(target, body)) {
    if (isAllowed(session?.statements ?? [], asked)) continue;
    const partitions = [asked.context?.['dynamodb:LeadingKeys'] ?? 'no partition'].flat().join(', ');
    const message = `The role does not grant ${asked.action} on ${asked.resource} (${partitions})`;
    throw new DynamoDbError(400, 'AccessDeniedException', message);
  }
}

const Key = z.looseObject({ pk: z.object({ S: z.string() }) });

const Part = z.object({ TableName: z.string(), Key: Key.optional(), Item: Key.optional() });

const Body = z.object({
  TableName: z.string().optional(),
  Key: Key.optional(),
  KeyConditionExpression: z.string().optional(),
  ExpressionAttributeValues: z.record(z.string(), z.looseObject({ S: z.string().optional() })).optional(),
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(Key) })).optional(),
  TransactItems: z.array(z.record(z.string(), Part)).optional(),
});

/** The actions of the members of a transaction. */
const writes: Readonly<Record<string, string>> = {
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
};

/**
 * The actions that a request to DynamoDB consists of, as IAM sees them. An action that our code does not send names
 * no partition, so a role that is limited to some may not use it.
 * @param target header `X-Amz-Target`
 * @throws ZodError for a body that is none of DynamoDB's
 */
function requestedActions(target: string, body: Buffer): RequestedAction[] {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  const parsed = Body.parse(JSON.parse(body.toString()));
  const { TableName = '', Key: key, RequestItems, TransactItems } = parsed;
  if (operation === 'TransactWriteItems') {
    return (TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([kind, part]) => {
        const partition = (part.Item ?? part.Key)?.pk.S;
        return requested(writes[kind] ?? kind, part.TableName, partition === undefined ? [] : [partition]);
      }),
    );
  }
  if (operation === 'BatchGetItem') {
    return Object.entries(RequestItems ?? {}).map(([table, { Keys }]) =>
      requested(
        operation,
        table,
        Keys.map(({ pk }) => pk.S),
      ),
    );
  }
  return [requested(operation, TableName, key === undefined ? queried(parsed) : [key.pk.S])];
}

const requested = (action: string, table: string, partitions: readonly string[]): RequestedAction => ({
  action: `dynamodb:${action}`,
  resource: tableArn(table),
  context: partitions.length === 0 ? {} : { 'dynamodb:LeadingKeys': partitions },
});

/** The partition that a query names, as `pk = :name`. */
function queried({
  KeyConditionExpression = '',
  ExpressionAttributeValues = {},
}: z.infer<typeof Body>): string[] {
  const name = /\bpk = (:\w+)/.exec(KeyConditionExpression)?.[1] ?? '';
  const partition = ExpressionAttributeValues[name]?.S;
  return partition === undefined ? [] : [partition];
}

/** Hands a request on to the emulator, and its answer back. */
function forward(
  message: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  emulator: EmulatorAddress,
  agent: Agent,
): Promise<void> {
  const { method, headers } = message;
  return new Promise((resolve, reject) => {
    const onward = request({ ...emulator, agent, method, path: '/', headers }, (answer) => {
      const { 'access-control-allow-origin': _, ...answered } = answer.headers;
      response.writeHead(answer.statusCode ?? 503, answered);
      answer.once('error', reject).pipe(response);
      response.once('close', resolve);
    });
    onward.once('error', reject).end(body);
  });
}

const requestMs = 30_000;

function refuse(message: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, code } =
    error instanceof DynamoDbError
      ? error
      : error instanceof SignatureError
        ? { status: 400, code: error.code }
        : { status: 503, code: 'ServiceUnavailable' };
  const text =
    error instanceof DynamoDbError || error instanceof SignatureError ? error.message : 'No answer';
  const type = `com.amazon.coral.service#${code}`;
  const body = JSON.stringify({ __type: type, message: text });
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': Buffer.byteLength(body),
    // The rest of a refused body is not read.
    ...(!message.complete && { connection: 'close' }),
  });
  response.end(body);
}
