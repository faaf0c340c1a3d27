import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientEndpoint, oncePerEndpoint } from './client-endpoint.ts';
import { dynamoDbEndpoint } from './dynamodb-endpoint.ts';
import { withoutLog } from './without-log.ts';

/** DynamoDB; `DYNAMODB_ENDPOINT` names another one than the region's. */
export const dynamoDb = /* @__PURE__ */ oncePerEndpoint('DYNAMODB_ENDPOINT', (environment) => {
  const { endpoint, ...settings } = clientEndpoint(environment, 'DYNAMODB_ENDPOINT');
  const client = withoutLog(new DynamoDBClient({ ...settings, ...dynamoDbEndpoint(endpoint) }));
  // A param may be called `constructor`: the SDK then takes the record that holds it for an instance of a class.
  const marshallOptions = { removeUndefinedValues: true, convertClassInstanceToMap: true };
  return DynamoDBDocumentClient.from(client, { marshallOptions });
});
