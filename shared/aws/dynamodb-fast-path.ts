import { type Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  type GetCommandInput,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { fromAttributes, NotPlainError, toAttributes } from './attribute-values.ts';
import { uncheckedSignature } from './unchecked-signer.ts';

/**
 * Let a client send the four commands of tables to the local emulator without the SDK, whose work on a request takes
 * longer than the emulator's. The SDK sends all else: other commands, values that are not plain, and again each
 * command that did not succeed. So it names errors, and repeats what may be repeated, as on AWS. A transaction that
 * is sent again carries the same client token.
 */
export function sendFast<C extends DynamoDBDocumentClient>(client: C, agent: Agent): C {
  const bySdk = client.send.bind(client) as Send;
  const send: Send = async (command, ...options) => {
    const operation = options.length === 0 ? operations.get(command.constructor) : undefined;
    if (operation === undefined) return bySdk(command, ...options);
    return (await tryPlainly(operation, command.input, agent)) ?? bySdk(command);
  };
  return Object.assign(client, { send });
}

type Send = (command: { input: object }, ...options: unknown[]) => Promise<unknown>;

/** An operation of DynamoDB: its name, and how its input and output hold attribute values. */
interface Operation {
  name: string;
  encode(input: object): object;
  decode(output: Output): object;
}

/** Part of an output that holds attribute values. */
interface Output {
  Item?: Attributes;
  Items?: Attributes[];
  LastEvaluatedKey?: Attributes;
  Responses?: Record<string, Attributes[]>;
  UnprocessedKeys?: Record<string, { Keys: Attributes[] }>;
}

type Attributes = Parameters<typeof fromAttributes>[0];

/** Return the output; undefined if the command did not succeed, or has values that are not plain. */
async function tryPlainly(
  { name, encode, decode }: Operation,
  input: object,
  agent: Agent,
): Promise<object | undefined> {
  try {
    const answer = await post(agent, name, JSON.stringify(encode(input)));
    return answer === undefined ? undefined : decode(JSON.parse(answer));
  } catch (error) {
    if (error instanceof NotPlainError) return undefined;
    throw error;
  }
}

/** Return the body of a response with status 200; undefined for any other, and if the connection fails. */
function post(agent: Agent, operation: string, body: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = {
      ...uncheckedSignature,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'content-length': Buffer.byteLength(body),
    };
    request({ agent, method: 'POST', path: '/', headers }, (response) => {
      const isSuccess = response.statusCode === 200;
      readText(response).then(
        (text) => resolve(isSuccess ? text : undefined),
        () => resolve(undefined),
      );
    })
      .on('error', () => resolve(undefined))
      .end(body);
  });
}

const optional = <V, R>(value: V | undefined, convert: (value: V) => R): R | undefined =>
  value === undefined ? undefined : convert(value);

const mapValues = <V, R>(values: Readonly<Record<string, V>>, convert: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));

type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Encode a write of a transaction, which has one of its members. */
const encodeWrite = (write: Writes): object =>
  // The SDK's type also lets a member be undefined.
  mapValues<EncodedParts | undefined, object>(
    write,
    ({ Item, Key, ExpressionAttributeValues, ...others } = {}) => ({
      ...others,
      Item: optional(Item, toAttributes),
      Key: optional(Key, toAttributes),
      ExpressionAttributeValues: optional(ExpressionAttributeValues, toAttributes),
    }),
  );

interface EncodedParts {
  Item?: object | undefined;
  Key?: object | undefined;
  ExpressionAttributeValues?: object | undefined;
}

const operations = new Map<unknown, Operation>([
  [
    GetCommand,
    {
      name: 'GetItem',
      encode: ({ Key, ...others }: GetCommandInput) => ({ ...others, Key: optional(Key, toAttributes) }),
      decode: ({ Item, ...others }) => ({ ...others, Item: optional(Item, fromAttributes) }),
    },
  ],
  [
    BatchGetCommand,
    {
      name: 'BatchGetItem',
      encode: ({ RequestItems = {}, ...others }: BatchGetCommandInput) => ({
        ...others,
        RequestItems: mapValues(RequestItems, ({ Keys = [], ...more }) => ({
          ...more,
          Keys: Keys.map(toAttributes),
        })),
      }),
      decode: ({ Responses = {}, UnprocessedKeys = {}, ...others }) => ({
        ...others,
        Responses: mapValues(Responses, (items) => items.map(fromAttributes)),
        UnprocessedKeys: mapValues(UnprocessedKeys, ({ Keys, ...more }) => ({
          ...more,
          Keys: Keys.map(fromAttributes),
        })),
      }),
    },
  ],
  [
    QueryCommand,
    {
      name: 'Query',
      encode: ({ ExpressionAttributeValues, ExclusiveStartKey, ...others }: QueryCommandInput) => ({
        ...others,
        ExpressionAttributeValues: optional(ExpressionAttributeValues, toAttributes),
        ExclusiveStartKey: optional(ExclusiveStartKey, toAttributes),
      }),
      decode: ({ Items, LastEvaluatedKey, ...others }) => ({
        ...others,
        Items: optional(Items, (items) => items.map(fromAttributes)),
        LastEvaluatedKey: optional(LastEvaluatedKey, fromAttributes),
      }),
    },
  ],
  [
    TransactWriteCommand,
    {
      name: 'TransactWriteItems',
      encode: ({ TransactItems = [], ...others }: TransactWriteCommandInput) => ({
        ...others,
        TransactItems: TransactItems.map(encodeWrite),
      }),
      decode: (output) => output,
    },
  ],
]);
