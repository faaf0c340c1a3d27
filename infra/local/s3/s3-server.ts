import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Server as Listener } from 'node:net';
import { SessionReader } from '../access/session-credentials.ts';
import { s3Listener } from './listener.ts';
import type { S3Credentials } from './protocol/authenticate-request.ts';
import { openStore } from './store/store.ts';

/**
 * Serve the S3 operations that the service uses, path-style, from a folder.
 * @throws Error if another server uses the folder
 */
export async function startS3Server(options: S3ServerOptions): Promise<RunningS3> {
  const { folder, port, host = '127.0.0.1', region, credentials, corsOrigins = [] } = options;
  const store = await openStore(folder, options.buckets);
  const sessions = new SessionReader(credentials);
  const listener = s3Listener({ store, region, credentials, sessions, corsOrigins });
  const active = new Set<Promise<void>>();
  const serve = (message: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => {
    const request = listener(message, response, expectsContinue);
    active.add(request);
    void request.finally(() => active.delete(request));
  };
  const server = createServer({
    // Set no time limit: uploads of gigabytes may take longer than any fixed time. The idle timeout applies
    // instead.
    requestTimeout: 0,
    headersTimeout: headersMilliseconds,
    keepAliveTimeout: idleMilliseconds / 2,
  });
  server.setTimeout(idleMilliseconds);
  server.on('request', (message, response) => serve(message, response, false));
  server.on('checkContinue', (message, response) => serve(message, response, true));
  try {
    await (options.listener === undefined ? listenNear(server, port, host) : take(server, options.listener));
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort(server)}`,
    close: async () => {
      await stop(server);
      await Promise.all(active);
      await store.close();
    },
  };
}

export interface S3ServerOptions {
  /** Data folder; only one server at a time may use it. */
  folder: string;
  /** Preferred port. If it is 0 or taken, the server uses any free port. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** A socket that already listens at `host`. It replaces `port`. */
  listener?: Listener;
  region: string;
  credentials: S3Credentials;
  /** Buckets to create if they are missing. */
  buckets: readonly string[];
  /** Origins whose pages may use the server, exactly as browsers send them. Default none. */
  corsOrigins?: readonly string[];
}

export interface RunningS3 {
  url: string;
  /** Give requests in progress a few seconds to finish, then stop. */
  close(): Promise<void>;
}

const headersMilliseconds = 30_000;

/** Close a connection without traffic after this time, whichever side is slow. */
const idleMilliseconds = 120_000;

async function listenNear(server: Server, port: number, host: string): Promise<void> {
  try {
    await listen(server, port, host);
  } catch (error) {
    if (port === 0) throw error;
    await listen(server, 0, host);
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function take(server: Server, listener: Listener): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(listener, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The server has no port.');
  return address.port;
}

const closeMilliseconds = 5_000;

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
