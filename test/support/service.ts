import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ulid } from 'ulid';
import { inject } from 'vitest';
import { endpointEnvironment } from '../../infra/local/access/local-roles.ts';
import { createTables } from '../../infra/local/dynamodb/create-tables.ts';
import { makeProxyEvent } from '../../infra/local/gateway/make-proxy-event.ts';
import { encodedPath, routeOf } from '../../infra/service/routes.ts';
import { dynamoDb } from '../../shared/aws/dynamodb-client.ts';
import type { Environment } from '../../shared/core/needs.ts';
import { issueToken } from '../../shared/data/accounts/token.ts';
import { type AccountType, createUser, type User } from '../../shared/data/accounts/user.ts';
import { tableWriter } from '../../shared/data/table/table-writer.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { type RequestMethod, servedMethods } from '../../shared/http/definition/request-method.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import type { Park } from '../../shared/http/pipeline/proxy-event.ts';
import { requireDocumented } from './documented-answer.ts';
import { testBucket, testCredentials, testRegion } from './emulators.ts';
import { sendLocally } from './send-locally.ts';

export interface TestUser {
  user: User;
  token: string;
}

export interface Call {
  /** HEAD in place of GET; default the endpoint's own method. */
  method?: RequestMethod;
  path?: Readonly<Record<string, string>>;
  /** A query string, or its parameters. */
  query?: string | Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  as?: TestUser;
  /** Another environment for this call, such as one in which a service is away. */
  environment?: Environment;
  sourceIp?: string;
  /** How the request may wait, as on one machine; default as on AWS, where it may not. */
  park?: Park;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  json: any;
}

/** The environment of a function whose tables are new and empty, on the emulators that all test files share. */
export async function testEnvironment(more: Environment = {}): Promise<Environment> {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: testCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: testCredentials.secretAccessKey,
  });
  const id = ulid().toLowerCase();
  const environment = {
    AWS_REGION: testRegion,
    DYNAMODB_ENDPOINT: inject('dynamoDbUrl'),
    S3_ENDPOINT: inject('s3Url'),
    ACCOUNTS_TABLE: `accounts-${id}`,
    RECORDS_TABLE: `records-${id}`,
    BUCKET: testBucket,
    LOG_LEVEL: 'warn',
    SERVICE_URL: 'http://service.test',
    // No test asks the Hub of models; nothing listens here.
    HF_ENDPOINT: 'http://127.0.0.1:9',
    ...more,
  };
  const client = new DynamoDBClient({ region: testRegion, endpoint: environment.DYNAMODB_ENDPOINT });
  await createTables(client, [environment.ACCOUNTS_TABLE, environment.RECORDS_TABLE]);
  client.destroy();
  if (environment.DYNAMODB_ENDPOINT === inject('dynamoDbUrl')) sendLocally(dynamoDb(environment));
  return environment;
}

/** The whole service as its callers see it, one function a call, without the network in between. */
export async function testService(more: Environment = {}) {
  const environment = await testEnvironment(more);
  const accounts = tableWriter(dynamoDb(environment), 'accounts', environment['ACCOUNTS_TABLE'] ?? '');
  const records = tableWriter(dynamoDb(environment), 'records', environment['RECORDS_TABLE'] ?? '');
  const functions = new WeakMap<Environment, Map<AnyEndpoint, ReturnType<typeof lambda>>>();

  function functionOf(endpoint: AnyEndpoint, its: Environment): ReturnType<typeof lambda> {
    const known = functions.get(its) ?? new Map<AnyEndpoint, ReturnType<typeof lambda>>();
    functions.set(its, known);
    const handler =
      known.get(endpoint) ?? lambda(endpoint, endpointEnvironment(endpoint, its, testCredentials));
    known.set(endpoint, handler);
    return handler;
  }

  async function call(
    endpoint: AnyEndpoint,
    {
      method = servedMethods(endpoint.method)[0] ?? 'GET',
      path = {},
      query = '',
      headers = {},
      body = '',
      as,
      environment: its = environment,
      sourceIp = '127.0.0.1',
      park,
    }: Call = {},
  ): Promise<Answer> {
    const encoded = encodedPath(endpoint, path);
    const event = makeProxyEvent(
      {
        method,
        path: encoded.path,
        query: typeof query === 'string' ? query : new URLSearchParams(query).toString(),
        headers: Object.entries({ ...(as && { Authorization: `Bearer ${as.token}` }), ...headers }),
        body: typeof body === 'string' ? Buffer.from(body) : body,
        sourceIp,
      },
      routeOf(endpoint).resource,
      encoded.parameters,
    );
    // biome-ignore lint/suspicious/noExplicitAny: no function reads more of its Lambda context
    const result = await functionOf(endpoint, its)(event, { park } as any);
    const bytes = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
    const answered = Object.entries(result.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]);
    const text = bytes.toString('utf8');
    const { 'content-type': type = '', 'content-encoding': coding } = Object.fromEntries(answered);
    const isJson = /\bjson\b/.test(type) && coding === undefined;
    const answer = {
      status: result.statusCode,
      headers: Object.fromEntries(answered),
      bytes,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
    await requireDocumented(endpoint, { method, path: encoded.path }, answer);
    return answer;
  }

  /** A new user of this type with a token; no password is hashed. */
  async function user(account_type: AccountType, name = `u${ulid().toLowerCase()}`): Promise<TestUser> {
    const now = new Date();
    const value: User = {
      user_id: ulid().toLowerCase(),
      username: name,
      account_type,
      created_at: now.toISOString(),
      version: 1,
      credentials_version: 1,
    };
    await createUser(accounts, value, 'no password');
    const { bearer } = await issueToken(accounts, value, {
      token_id: ulid().toLowerCase(),
      now,
      seconds: 3600,
      name: null,
    });
    return { user: value, token: bearer };
  }

  return { environment, accounts, records, call, user };
}

export type TestService = Awaited<ReturnType<typeof testService>>;
