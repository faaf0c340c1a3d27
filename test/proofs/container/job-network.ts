import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { startSharedEmulators, testCredentials } from '../../support/emulators.ts';
import { outputOf, succeeds } from './run-program.ts';

/** Where a container of ECS, and so of Batch, asks for the credentials of its role. */
const credentialsAddress = '169.254.170.2';

export const jobNetwork = 'model-project-service-test';

/** What marks the containers of these tests, so that none outlives them. */
export const jobLabel = 'model-project-service-test';

declare module 'vitest' {
  interface ProvidedContext {
    /** What ECS puts into AWS_CONTAINER_CREDENTIALS_RELATIVE_URI. */
    credentialsPath: string;
  }
}

/** Gives the role's credentials to whoever knows the path, as the agent of ECS does. */
async function serveCredentials(path: string): Promise<() => Promise<void>> {
  const answer = JSON.stringify({
    AccessKeyId: testCredentials.accessKeyId,
    SecretAccessKey: testCredentials.secretAccessKey,
    // Must be there, and the local engines know no sessions.
    Token: '',
    Expiration: new Date(Date.now() + 6 * 60 * 60 * 1000).toISOString(),
  });
  const server = createServer(({ url }, response) => {
    response.writeHead(url === path ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(url === path ? answer : '{"message":"invalid credentials path"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(80, credentialsAddress, resolve);
  });
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

function removeContainers(): void {
  const ids = outputOf('docker', ['ps', '--all', '--quiet', '--filter', `label=${jobLabel}`]).split('\n');
  const present = ids.filter((id) => id !== '');
  if (present.length > 0) outputOf('docker', ['rm', '--force', ...present]);
}

async function removeNetwork(): Promise<void> {
  removeContainers();
  if (succeeds('docker', ['network', 'rm', jobNetwork])) return;
  await sleep(1_000); // the engine may still be detaching the last container
  outputOf('docker', ['network', 'rm', jobNetwork]);
}

/**
 * A network without any way out, as that of a cluster's nodes is. Its one other host is this machine, under the
 * address of the agent of ECS: there are the credentials, and the engines in the place of S3's and DynamoDB's gateway
 * endpoints.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (succeeds('docker', ['network', 'inspect', jobNetwork])) await removeNetwork();
  outputOf('docker', [
    ...['network', 'create', '--internal', '--subnet', '169.254.170.0/24', '--gateway', credentialsAddress],
    jobNetwork,
  ]);
  const path = `/v2/credentials/${randomUUID()}`;
  project.provide('credentialsPath', path);
  const closeCredentials = await serveCredentials(path);
  const closeEngines = await startSharedEmulators(project, credentialsAddress);
  return async () => {
    await closeEngines();
    await closeCredentials();
    await removeNetwork();
  };
}
