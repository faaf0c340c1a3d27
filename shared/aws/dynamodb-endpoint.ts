import { Agent, type AgentOptions, type RequestOptions } from 'node:http';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

const unixScheme = 'unix:';
/** Maximum number of connections, the SDK's default. */
const maxSockets = 50;

/** A well-formed placeholder signature. The local engine requires a signature but does not verify it. */
const unchecked = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=service/day/region/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
  'x-amz-date': '20200101T000000Z',
};

/**
 * Signer for an engine that does not verify signatures. Computing a signature took a fifth of the time of
 * recording a run. Anyone who can reach the socket has full access.
 */
export const uncheckedSigner = {
  async sign(request) {
    Object.assign(request.headers, unchecked);
    return request;
  },
} satisfies DynamoDBClientConfig['signer'];

/**
 * Client settings for an endpoint: a URL, or `unix:` and the path of a socket. Only the socket's owner can reach
 * the local engine.
 */
export function dynamoDbEndpoint(
  endpoint: string | undefined,
): Pick<DynamoDBClientConfig, 'endpoint' | 'requestHandler' | 'signer'> {
  if (endpoint === undefined) return {};
  if (!endpoint.startsWith(unixScheme)) return { endpoint };
  const socketPath = endpoint.slice(unixScheme.length);
  // The host is never resolved: the agent connects to the socket, as `http.request` does with this option.
  const options: AgentOptions & Pick<RequestOptions, 'socketPath'> = {
    keepAlive: true,
    maxSockets,
    socketPath,
  };
  return {
    endpoint: 'http://localhost',
    requestHandler: { httpAgent: new Agent(options) },
    signer: uncheckedSigner,
  };
}
