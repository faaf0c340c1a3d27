import { endpointEnvironment } from '../../infra/local/role/local-roles.ts';
import { dynamoDb } from '../../shared/aws/dynamodb-client.ts';
import type { AnyEndpoint } from '../../shared/http/exchange.ts';
import { testCredentials } from './engines.ts';
import type { TestService } from './service.ts';

/** A request that a function sent to DynamoDB. */
export interface TableRequest {
  /** `Get`, `BatchGet`, `Query` or `TransactWrite`. */
  operation: string;
  tables: ('accounts' | 'records')[];
}

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

/**
 * The requests to the tables of a service that functions send while `act` runs, in their order.
 * @param before awaited before each of them is sent
 */
export async function tableRequests(
  service: TestService,
  endpoint: AnyEndpoint,
  act: () => Promise<unknown>,
  before: (request: TableRequest) => Promise<void> | void = () => {},
): Promise<TableRequest[]> {
  const names = new Map<string | undefined, 'accounts' | 'records'>([
    [service.environment['ACCOUNTS_TABLE'], 'accounts'],
    [service.environment['RECORDS_TABLE'], 'records'],
  ]);
  const { middlewareStack } = dynamoDb(endpointEnvironment(endpoint, service.environment, testCredentials));
  const sent: TableRequest[] = [];
  const name = 'requests-of-a-test';
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const tables = [...new Set(tablesOf(args.input as SentInput).map((table) => names.get(table)))];
        const own = tables.filter((table) => table !== undefined).sort();
        if (own.length > 0) {
          const request = { operation: commandName.replace(/(?:Items?)?Command$/, ''), tables: own };
          sent.push(request);
          await before(request);
        }
        return next(args);
      },
    { step: 'initialize', name },
  );
  try {
    await act();
  } finally {
    middlewareStack.remove(name);
  }
  return sent;
}
