import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { oncePerEnvironment, place } from './place.ts';

/** DynamoDB; `DYNAMODB_ENDPOINT` names another one than the region's. */
export const dynamoDb = /* @__PURE__ */ oncePerEnvironment((environment) =>
  DynamoDBDocumentClient.from(new DynamoDBClient(place(environment, 'DYNAMODB_ENDPOINT')), {
    marshallOptions: { removeUndefinedValues: true },
  }),
);
