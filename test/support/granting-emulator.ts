import { inject } from 'vitest';
import { startSignedProxy } from '../../infra/local/dynamodb/signed-proxy.ts';
import { testCredentials, testRegion } from './emulators.ts';
import { testService } from './service.ts';

/** Starts what checks the grants of those who use the DynamoDB emulator of all test files, which checks none. */
export function grantingEmulator(): Promise<{ url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(inject('dynamoDbUrl'));
  return startSignedProxy({
    host: '127.0.0.1',
    emulator: { host: hostname, port: Number(port) },
    region: testRegion,
    credentials: testCredentials,
  });
}

/** The service on such an engine: a request fails if the role of its function lacks a right. */
export async function grantedService(more: Readonly<Record<string, string>> = {}) {
  const engine = await grantingEmulator();
  const service = await testService({ DYNAMODB_ENDPOINT: engine.url, ...more });
  return { service, close: () => engine.close() };
}
