import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { isAllowed } from '../access/is-allowed.ts';
import { type Credentials, SessionReader } from '../access/session-credentials.ts';
import { SignatureError, verifySignature } from '../access/verify-signature.ts';
import { requestedActions } from './requested-actions.ts';
import type { EngineAddress } from './wait-for-engine.ts';

export interface SignedProxyOptions {
  /** Address that it listens on, on any free port. */
  host: string;
  /** Where the engine listens. */
  engine: EngineAddress;
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
const requestMs = 30_000;

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

/** Hands a request on to the engine, and its answer back. */
function forward(
  message: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  engine: EngineAddress,
  agent: Agent,
): Promise<void> {
  const { method, headers } = message;
  return new Promise((resolve, reject) => {
    const onward = request({ ...engine, agent, method, path: '/', headers }, (answer) => {
      const { 'access-control-allow-origin': _, ...answered } = answer.headers;
      response.writeHead(answer.statusCode ?? 503, answered);
      answer.once('error', reject).pipe(response);
      response.once('close', resolve);
    });
    onward.once('error', reject).end(body);
  });
}

/**
 * Serve an engine that checks no signatures, and require signatures for DynamoDB with the credentials, or with those of
 * a session, whose role is held to its statements. It responds to no preflight, and with an error to every request of a
 * page without the credentials.
 */
export async function startSignedProxy(options: SignedProxyOptions): Promise<RunningProxy> {
  const { host, engine, region, credentials } = options;
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
    await forward(message, body, response, engine, agent);
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
