import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientEndpoint, oncePerEndpoint } from './client-endpoint.ts';
import { dynamoDbEndpoint, emulatorAgent } from './dynamodb-endpoint.ts';
import { sendFast } from './dynamodb-fast-path.ts';
import { withoutLog } from './without-log.ts';

/** Client of DynamoDB. `DYNAMODB_ENDPOINT` replaces the region's endpoint. */
export const dynamoDb = /* @__PURE__ */ oncePerEndpoint('DYNAMODB_ENDPOINT', (environment) => {
  const { endpoint, ...settings } = clientEndpoint(environment, 'DYNAMODB_ENDPOINT');
  const client = withoutLog(new DynamoDBClient({ ...settings, ...dynamoDbEndpoint(endpoint) }));
  const agent = emulatorAgent(endpoint);
  // A parameter may be named `constructor`: the SDK then mistakes its record for a class instance.
  const marshallOptions = { removeUndefinedValues: true, convertClassInstanceToMap: true };
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions });
  return agent === undefined ? documents : sendFast(documents, agent);
});
