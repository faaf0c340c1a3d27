import {
  DescribeContinuousBackupsCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { CommandError } from '../../command/command-error.ts';

/**
 * Begin to restore tables to one time, each into a new table beside it. A repeated call continues after an interruption.
 * @returns the names of the new tables, in the order of `tables`
 * @throws CommandError naming every table that cannot be restored; then nothing was begun
 */
export async function restoreTables(
  client: DynamoDBClient,
  tables: readonly string[],
  to: Date,
): Promise<string[]> {
  const faults = (await Promise.all(tables.map((table) => faultOf(client, table, to)))).filter(
    (fault) => fault !== undefined,
  );
  if (faults.length > 0) throw new CommandError(`Nothing was restored:\n  ${faults.join('\n  ')}`);
  const names = tables.map((table) => restoredName(table, to));
  for (const [index, SourceTableName] of tables.entries()) {
    try {
      await client.send(
        new RestoreTableToPointInTimeCommand({
          SourceTableName,
          TargetTableName: names[index],
          RestoreDateTime: to,
        }),
      );
    } catch (error) {
      // An earlier call has begun it.
      if (!(error instanceof Error && error.name === 'TableAlreadyExistsException')) throw error;
    }
  }
  return names;
}

/** Return why a table cannot be restored to a time, if so. */
async function faultOf(client: DynamoDBClient, TableName: string, to: Date): Promise<string | undefined> {
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  const { PointInTimeRecoveryStatus, EarliestRestorableDateTime: earliest } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  if (PointInTimeRecoveryStatus !== 'ENABLED')
    return `${TableName} keeps no history: deploy with pointInTimeRecovery=true, for the next time`;
  if (earliest !== undefined && to.getTime() < earliest.getTime())
    return `${TableName} can be restored to ${earliest.toISOString()} or later`;
  return undefined;
}

/** Name of a restored table. It begins with the name of the deployment, as that of the table does. */
const restoredName = (table: string, to: Date): string =>
  `${table.replace(/-at-[0-9TZ]+$/, '')}-at-${to.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

/** Wait until restored tables can be read. AWS takes 20 minutes and more. */
export async function waitForTables(client: DynamoDBClient, names: readonly string[]): Promise<void> {
  for (const TableName of names)
    await waitUntilTableExists({ client, maxWaitTime: maxWaitSeconds, minDelay: 2 }, { TableName });
}

const maxWaitSeconds = 24 * 3600;
