import type { Agent } from 'node:http';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { EmulatorAgent } from './emulator-agent.ts';
import { uncheckedSigner } from './unchecked-signer.ts';

const unixScheme = 'unix:';
/** Maximum number of connections, the SDK's default. */
const maxSockets = 50;

/**
 * Client settings for an endpoint: a URL, or `unix:` and the path of a socket. Only the socket's owner can reach
 * the local engine.
 */
export function dynamoDbEndpoint(
  endpoint: string | undefined,
): Pick<DynamoDBClientConfig, 'endpoint' | 'requestHandler' | 'signer'> {
  if (endpoint === undefined) return {};
  const httpAgent = emulatorAgent(endpoint);
  if (httpAgent === undefined) return { endpoint };
  return {
    // The agent connects to the socket. The host is never resolved.
    endpoint: 'http://localhost',
    requestHandler: { httpAgent },
    signer: uncheckedSigner,
  };
}

/** Return a new agent for the socket of an endpoint; undefined if the endpoint is a URL. */
export function emulatorAgent(endpoint: string | undefined): Agent | undefined {
  const socketPath = socketOf(endpoint);
  return socketPath === undefined
    ? undefined
    : new EmulatorAgent(socketPath, { keepAlive: true, maxSockets });
}

/** Return the path of the socket that an endpoint names; undefined if it is a URL. */
export const socketOf = (endpoint: string | undefined): string | undefined =>
  endpoint?.startsWith(unixScheme) ? endpoint.slice(unixScheme.length) : undefined;
