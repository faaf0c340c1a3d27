import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A registry behind https whose certificate only `caFile` vouches for. It ends with the test. */
export async function startPrivateRegistry(folder: string, handle: RequestListener) {
  const [key, cert] = ['ca.key', 'ca.pem'].map((name) => join(folder, name)) as [string, string];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...made, ...names], { stdio: 'ignore' });
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, handle);
  return { url: `https://localhost:${await listen(server)}`, caFile: cert };
}

/** A proxy that tunnels (CONNECT) and notes where to. It ends with the test. */
export async function startProxy() {
  const tunnels: string[] = [];
  const server = createPlainServer((_, response) => void response.writeHead(405).end());
  server.on('connect', (request, client) => {
    const { hostname, port } = new URL(`http://${request.url}`);
    tunnels.push(`${hostname}:${port}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => void client.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, tunnels };
}
