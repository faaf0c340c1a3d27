import { endpointEnvironment } from '../../infra/local/access/local-roles.ts';
import { dynamoDb } from '../../shared/aws/dynamodb-client.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { testCredentials } from './emulators.ts';
import { throughSdk } from './send-locally.ts';
import type { TestService } from './service.ts';

interface SentInput {
  TableName?: string;
  RequestItems?: Record<string, unknown>;
  TransactItems?: Record<string, { TableName?: string }>[];
}

const tablesOf = ({ TableName, RequestItems, TransactItems }: SentInput): (string | undefined)[] => {
  if (RequestItems !== undefined) return Object.keys(RequestItems);
  if (TransactItems !== undefined)
    return TransactItems.flatMap((item) => Object.values(item).map((part) => part.TableName));
  return [TableName];
};

/** Everything that can go on without an answer of a table has gone on. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * The requests to the tables of a service that functions send while `act` runs: those in one list were sent without
 * waiting for each other. Each is `BatchGet accounts records`: the operation and the tables.
 */
export async function tableRequests(
  service: TestService,
  endpoint: AnyEndpoint,
  act: () => Promise<unknown>,
): Promise<string[][]> {
  const names = new Map([
    [service.environment['ACCOUNTS_TABLE'], 'accounts'],
    [service.environment['RECORDS_TABLE'], 'records'],
  ]);
  const client = dynamoDb(endpointEnvironment(endpoint, service.environment, testCredentials));
  const { middlewareStack } = client;
  const rounds: string[][] = [];
  let released: Promise<void> | undefined;
  const join = async (request: string) => {
    if (released === undefined) {
      rounds.push([]);
      released = quiet().then(() => {
        released = undefined;
      });
    }
    rounds.at(-1)?.push(request);
    await released;
  };
  const name = 'requests-of-a-test';
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const tables = new Set(tablesOf(args.input as SentInput).map((table) => names.get(table)));
        const own = [...tables].filter((table) => table !== undefined).sort();
        if (own.length > 0) await join([commandName.replace(/(?:Items?)?Command$/, ''), ...own].join(' '));
        return next(args);
      },
    { step: 'initialize', name },
  );
  try {
    await throughSdk(client, act);
  } finally {
    middlewareStack.remove(name);
  }
  return rounds;
}
