import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDbEndpoint } from './dynamodb-endpoint.ts';
import { oncePerPlace, place } from './place.ts';

/** DynamoDB; `DYNAMODB_ENDPOINT` names another one than the region's. */
export const dynamoDb = /* @__PURE__ */ oncePerPlace('DYNAMODB_ENDPOINT', (environment) => {
  const { endpoint, ...settings } = place(environment, 'DYNAMODB_ENDPOINT');
  const client = new DynamoDBClient({ ...settings, ...dynamoDbEndpoint(endpoint) });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
});
