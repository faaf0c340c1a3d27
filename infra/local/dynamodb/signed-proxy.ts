import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { isAllowed, type RequestedAction, tableArn } from '../access/is-allowed.ts';
import { type Credentials, SessionReader } from '../access/session-credentials.ts';
import { SignatureError, verifySignature } from '../access/verify-signature.ts';
import type { EmulatorAddress } from './start-dynamodb.ts';

/**
 * Serve an emulator that checks no signatures, and require DynamoDB signatures. Accept the given credentials and
 * those of their sessions, and limit a session to the statements of its role. Answer no CORS preflight, and refuse
 * every request of a web page without the credentials.
 */
export async function startSignedProxy(options: SignedProxyOptions): Promise<RunningProxy> {
  const { host, emulator, region, credentials } = options;
  const agent = new Agent({ keepAlive: true });
  const bodies = new BodyReader();
  const sessions = new SessionReader(credentials);
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = message;
    // Do this cheap check first, and do not read the body of a client with other credentials.
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
  /** Listen address; the port is any free one. */
  host: string;
  /** Address of the emulator. */
  emulator: EmulatorAddress;
  region: string;
  credentials: Credentials;
}

export interface RunningProxy {
  url: string;
  close(): Promise<void>;
}

/** Maximum size of a DynamoDB request in bytes, as for BatchWriteItem. */
const maxBodyBytes = 16 * 1024 * 1024;

/**
 * Maximum bytes of all buffered bodies together. A body counts from its start, before its signature can be
 * checked.
 */
const maxBufferedBytes = 4 * maxBodyBytes;

/** Read request bodies, and limit their bytes together. */
class BodyReader {
  #buffered = 0;

  /** @throws DynamoDbError for a body that is too large, or while the limit of all bodies is reached */
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

/** An error of the DynamoDB protocol. */
class DynamoDbError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Check the rights of the role of a session. The token's signature is already verified. @throws DynamoDbError */
function requireGrants(sessions: SessionReader, token: string, target: string, body: Buffer): void {
  const session = sessions.read(token);
  if (session !== undefined) sessions.keep(token, session);
  for (const requestedAction of requestedActions(target, body)) {
    if (isAllowed(session?.statements ?? [], requestedAction)) continue;
    const partitions = [requestedAction.context?.['dynamodb:LeadingKeys'] ?? 'no partition']
      .flat()
      .join(', ');
    const message = `The role does not grant ${requestedAction.action} on ${requestedAction.resource} (${partitions})`;
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

/** Actions by kind of transaction item. */
const writes: Readonly<Record<string, string>> = {
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
};

/**
 * Return the IAM actions of a DynamoDB request. An action that our code does not send names no partition, so a
 * role that is limited to partitions may not use it.
 * @param target header `X-Amz-Target`
 * @throws ZodError for an invalid body
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

/** Return the partition of a query with `pk = :name`. */
function queried({
  KeyConditionExpression = '',
  ExpressionAttributeValues = {},
}: z.infer<typeof Body>): string[] {
  const name = /\bpk = (:\w+)/.exec(KeyConditionExpression)?.[1] ?? '';
  const partition = ExpressionAttributeValues[name]?.S;
  return partition === undefined ? [] : [partition];
}

/** Forward a request to the emulator, and its response to the client. */
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
    // Do not read the rest of a refused body.
    ...(!message.complete && { connection: 'close' }),
  });
  response.end(body);
}
