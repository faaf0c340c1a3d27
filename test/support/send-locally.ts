import { Agent } from 'node:http';
import { connect } from 'node:net';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { sendFast } from '../../shared/aws/dynamodb-fast-path.ts';
import { uncheckedSigner } from '../../shared/aws/unchecked-signer.ts';

/** Connects to the DynamoDB engine of all test files, whatever the host of a request. */
class EngineAgent extends Agent {
  override createConnection() {
    const { hostname: host, port } = new URL(inject('dynamoDbUrl'));
    return connect({ host, port: Number(port), noDelay: true });
  }
}

const agent = new EngineAgent({ keepAlive: true, maxSockets: 50 });

/**
 * Let a client send requests to that engine as the service of one machine does: without the SDK and without signatures, which the
 * engine does not check. Both took a quarter of a worker's time. Requests through the proxy that checks grants use the SDK.
 */
export function sendLocally(client: DynamoDBDocumentClient): void {
  if (Object.hasOwn(client, 'send')) return;
  client.config.signer = async () => uncheckedSigner;
  sendFast(client, agent);
}

/** Let the SDK send all requests of a client while `act` runs, so that middleware of the SDK sees them. */
export async function throughSdk<R>(client: DynamoDBDocumentClient, act: () => Promise<R>): Promise<R> {
  const { send } = client;
  Reflect.deleteProperty(client, 'send');
  try {
    return await act();
  } finally {
    Object.assign(client, { send });
  }
}
