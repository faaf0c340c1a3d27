import * as z from 'zod';
import { tableArn } from '../access/arns.ts';
import type { RequestedAction } from '../access/is-allowed.ts';

const Key = z.looseObject({ pk: z.object({ S: z.string() }) });
const Part = z.object({ TableName: z.string(), Key: Key.optional(), Item: Key.optional() });
const Body = z.object({
  TableName: z.string().optional(),
  Key: Key.optional(),
  KeyConditionExpression: z.string().optional(),
  ExpressionAttributeValues: z.record(z.string(), z.looseObject({ S: z.string().optional() })).optional(),
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(Key) })).optional(),
  TransactItems: z.array(z.record(z.string(), Part)).optional(),
});

/** The actions of the members of a transaction. */
const writes: Readonly<Record<string, string>> = {
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
};

const requested = (action: string, table: string, partitions: readonly string[]): RequestedAction => ({
  action: `dynamodb:${action}`,
  resource: tableArn(table),
  context: partitions.length === 0 ? {} : { 'dynamodb:LeadingKeys': partitions },
});

/** The partition that a query names, as `pk = :name`. */
function queried({
  KeyConditionExpression = '',
  ExpressionAttributeValues = {},
}: z.infer<typeof Body>): string[] {
  const name = /\bpk = (:\w+)/.exec(KeyConditionExpression)?.[1] ?? '';
  const partition = ExpressionAttributeValues[name]?.S;
  return partition === undefined ? [] : [partition];
}

/**
 * The actions that a request to DynamoDB consists of, as IAM sees them. An action that our code does not send names
 * no partition, so a role that is limited to some may not use it.
 * @param target header `X-Amz-Target`
 * @throws ZodError for a body that is none of DynamoDB's
 */
export function requestedActions(target: string, body: Buffer): RequestedAction[] {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  const parsed = Body.parse(JSON.parse(body.toString()));
  const { TableName = '', Key: key, RequestItems, TransactItems } = parsed;
  if (operation === 'TransactWriteItems') {
    return (TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([kind, part]) => {
        const partition = (part.Item ?? part.Key)?.pk.S;
        return requested(writes[kind] ?? kind, part.TableName, partition === undefined ? [] : [partition]);
      }),
    );
  }
  if (operation === 'BatchGetItem') {
    return Object.entries(RequestItems ?? {}).map(([table, { Keys }]) =>
      requested(
        operation,
        table,
        Keys.map(({ pk }) => pk.S),
      ),
    );
  }
  return [requested(operation, TableName, key === undefined ? queried(parsed) : [key.pk.S])];
}
