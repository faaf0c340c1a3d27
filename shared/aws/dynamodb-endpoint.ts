import { Agent, type AgentOptions, type RequestOptions } from 'node:http';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

const unixScheme = 'unix:';
/** As many connections as the SDK makes by default. */
const maxSockets = 50;

/**
 * How a client speaks to an endpoint: a URL, or `unix:` and the path of a socket, by which only its owner reaches the
 * local engine.
 */
export function dynamoDbEndpoint(
  endpoint: string | undefined,
): Pick<DynamoDBClientConfig, 'endpoint' | 'requestHandler'> {
  if (endpoint === undefined) return {};
  if (!endpoint.startsWith(unixScheme)) return { endpoint };
  const socketPath = endpoint.slice(unixScheme.length);
  // The host is looked up nowhere: the agent connects to the socket, as `http.request` would with this option.
  const options: AgentOptions & Pick<RequestOptions, 'socketPath'> = {
    keepAlive: true,
    maxSockets,
    socketPath,
  };
  return { endpoint: 'http://localhost', requestHandler: { httpAgent: new Agent(options) } };
}
