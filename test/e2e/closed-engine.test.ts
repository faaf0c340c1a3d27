import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thisHost } from '../../shared/host/this-host.ts';
import { listeningPorts } from '../support/listening-ports.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';

/** A command within which no namespace of the network can be made. */
const withoutNamespaces = [
  'unshare',
  '-r',
  'sh',
  '-c',
  'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"',
  'sh',
];

interface Reply {
  origin: string | null;
  text: string;
  status: number;
}

/** What a page of another origin would send. */
async function askForTables(port: number): Promise<Reply> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: {
      origin: 'http://elsewhere.example',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      // The engine wants to see a signature, but checks none.
      'x-amz-date': '20260101T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0',
    },
    body: '{}',
  });
  const origin = answer.headers.get('access-control-allow-origin');
  return { status: answer.status, origin, text: await answer.text() };
}

function running(through: readonly string[]): { service: LocalService; folder: string } {
  const own = { folder: '' } as { service: LocalService; folder: string };
  beforeAll(async () => {
    own.folder = await mkdtemp(join(tmpdir(), 'mps-closed-'));
    await chmod(own.folder, 0o711);
    const started = await startLocalService(['--data', join(own.folder, 'data')], {}, through);
    if (!('url' in started)) throw new Error(started.output);
    own.service = started;
  });
  afterAll(async () => {
    await own.service.end('SIGTERM');
    await rm(own.folder, { recursive: true, force: true });
  });
  return own;
}

describe.runIf(thisHost.name === 'linux')('the tables of a service', () => {
  const own = running([]);

  test('are behind no port', async () => {
    const ports = await listeningPorts(own.service.pid);
    // Gateway, S3 and Batch.
    expect(ports).toHaveLength(3);
    for (const port of ports) {
      const { status, origin, text } = await askForTables(port);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(origin).toBeNull();
      expect(text).not.toContain('TableNames');
    }
    expect(own.service.output()).not.toContain('WARNING');
  });

  test('are reached by the service itself without the relay behind that socket', async () => {
    // Connections to a Unix socket are listed in the network of their client.
    const sockets = await readFile('/proc/net/unix', 'utf8');

    expect(sockets).not.toContain(join(own.folder, 'data/dynamodb/socket-'));
  });

  test('are behind a socket of their owner alone', async () => {
    const folder = join(own.folder, 'data/dynamodb');
    const sockets = (await readdir(folder)).filter((name) => name.startsWith('socket-'));
    expect(sockets).toHaveLength(1);
    const found = await stat(join(folder, sockets[0] ?? ''));
    expect(found.isSocket()).toBe(true);
    expect(found.mode & 0o777).toBe(0o600);
  });
});

describe.runIf(thisHost.name === 'linux')('the tables of a service without namespaces', () => {
  const own = running(withoutNamespaces);

  test('are behind a proxy that checks signatures, and a warning says what is open', async () => {
    expect(own.service.output()).toContain('WARNING: This system refuses network namespaces');
    const ports = await listeningPorts(own.service.pid);
    // Gateway, S3, Batch, the engine and its proxy.
    expect(ports).toHaveLength(5);
    const replies = await Promise.all(ports.map(askForTables));
    expect(replies.filter(({ text }) => text.includes('TableNames'))).toHaveLength(1);
    expect(replies.filter(({ text }) => text.includes('MissingAuthenticationToken'))).toHaveLength(1);
    expect((await fetch(`${own.service.url}/health`)).status).toBe(200);
  });
});
