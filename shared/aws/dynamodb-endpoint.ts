import { Agent, type AgentOptions, type RequestOptions } from 'node:http';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

const unixScheme = 'unix:';
/** As many connections as the SDK makes by default. */
const maxSockets = 50;

/** A signature of the right form: the engine behind the socket asks for one and does not look at it. */
const unchecked = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=service/day/region/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
  'x-amz-date': '20200101T000000Z',
};

/**
 * Signs for an engine that looks at no signature. Computing one took a fifth of the time of recording a run, and who
 * reaches the socket may do all.
 */
export const uncheckedSigner = {
  async sign(request) {
    Object.assign(request.headers, unchecked);
    return request;
  },
} satisfies DynamoDBClientConfig['signer'];

/**
 * How a client speaks to an endpoint: a URL, or `unix:` and the path of a socket, by which only its owner reaches the
 * local engine.
 */
export function dynamoDbEndpoint(
  endpoint: string | undefined,
): Pick<DynamoDBClientConfig, 'endpoint' | 'requestHandler' | 'signer'> {
  if (endpoint === undefined) return {};
  if (!endpoint.startsWith(unixScheme)) return { endpoint };
  const socketPath = endpoint.slice(unixScheme.length);
  // The host is looked up nowhere: the agent connects to the socket, as `http.request` would with this option.
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
