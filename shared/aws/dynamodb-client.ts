import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientEndpoint, oncePerEndpoint } from './client-endpoint.ts';
import { dynamoDbEndpoint } from './dynamodb-endpoint.ts';

/** DynamoDB; `DYNAMODB_ENDPOINT` names another one than the region's. */
export const dynamoDb = /* @__PURE__ */ oncePerEndpoint('DYNAMODB_ENDPOINT', (environment) => {
  const { endpoint, ...settings } = clientEndpoint(environment, 'DYNAMODB_ENDPOINT');
  const client = new DynamoDBClient({ ...settings, ...dynamoDbEndpoint(endpoint) });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
});
