import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dynamoDbEndpoint } from '../../../shared/aws/dynamodb-endpoint.ts';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CommandError } from '../../command/command-error.ts';
import { startS3Server } from '../../local/s3/s3-server.ts';
import { emulatorCredentials, openDataFolder } from '../../local/start/data-folder.ts';
import { diskUse, namesIn, projectsIn } from '../../local/start/data-folder-cleanup.ts';
import { openDatabases } from '../../local/start/databases.ts';
import { startRelayProcess } from '../../local/start/emulators/s3-process.ts';
import { startTables, tablesEndpoint } from '../../local/start/emulators/start-tables.ts';
import { accountsTable, bucket, recordsTable } from '../../local/start/function-environment.ts';
import { type JobFolders, jobFolders } from '../../local/start/job-folders.ts';
import { type OrphanSearch, searchStores } from './orphan-search.ts';

/**
 * Search all data in a data folder of `npm start`, with separate emulators. The folder is locked during the
 * search.
 * @throws CommandError if there is no data folder, or if a service uses it
 */
export async function searchFolder(folder: string): Promise<OrphanSearch> {
  const path = givenPath(folder);
  if (!existsSync(join(path, 'dynamodb/records.db'))) {
    throw new CommandError(
      `There is no data folder ${path}. npm start creates .data, or the folder of --data.`,
    );
  }
  await using started = new AsyncDisposableStack();
  const data = await openDataFolder(path);
  started.defer(() => data.release());
  const credentials = await emulatorCredentials(data);
  const databases = await openDatabases(data, ['tables', 'files']);
  started.defer(() => databases.seal());
  const tables = await startTables(data.within('dynamodb'));
  started.defer(() => tables.close());
  if (tables.relay !== undefined) {
    const relay = startRelayProcess(join(import.meta.dirname, relayProgram), tables.relay);
    started.defer(() => relay.close());
  }
  const { endpoint, close } = await tablesEndpoint(tables, { host: undefined, region, credentials });
  started.defer(close);
  const objects = await startS3Server({
    folder: data.within('s3'),
    port: 0,
    region,
    credentials,
    buckets: [bucket],
  });
  started.defer(() => objects.close());
  // Await the search here, before the emulators end.
  const search = await searchStores({
    accounts: accountsTable,
    records: recordsTable,
    bucket,
    dynamoDb: { region, credentials, ...dynamoDbEndpoint(endpoint) },
    s3: { region, credentials, endpoint: objects.url, forcePathStyle: true },
  });
  await addFolders(search, await jobFolders(data));
  return search;
}

const relayProgram = '../../local/dynamodb/relay-main.ts';

const region = 'us-east-1';

/** Add folders that no run or project owns. While no service runs, every run is over. */
async function addFolders(search: OrphanSearch, { work, environments }: JobFolders): Promise<void> {
  const add = async (path: string, why: string) =>
    search.addFinding({ kind: 'folder', where: path, why: `${why} (${bytesText(await diskUse(path))})` });
  for (const name of await namesIn(work)) await add(join(work, name), 'its run has ended');
  for (const name of await projectsIn(environments)) {
    if (!search.hasProject(name)) await add(join(environments, name), `there is no project ${name}`);
  }
}
