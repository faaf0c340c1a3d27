import { inject } from 'vitest';
import { startSignedProxy } from '../../infra/local/dynamodb/signed-proxy.ts';
import { testCredentials, testRegion } from './emulators.ts';

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
