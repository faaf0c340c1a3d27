import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { recordsTable } from '../../../infra/local/start/function-environment.ts';
import { newProject, projectItems } from './project-records.ts';

/** As many as fit a transaction of 100 items; the engine takes transactions four times as fast as batches. */
const projectsAtOnce = 33;

/** Writes projects straight into the engine's table, for to create 100,000 one by one takes minutes. Returns their ids. */
export async function insertProjects(endpoint: string, owner_id: string, size: number): Promise<string[]> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ region: 'us-east-1', endpoint, credentials }),
  );
  const ids: string[] = [];
  try {
    while (ids.length < size) {
      const count = Math.min(projectsAtOnce, size - ids.length);
      const projects = Array.from({ length: count }, () => newProject(owner_id));
      const items = (await Promise.all(projects.map(projectItems))).flat();
      const TransactItems = items.map((Item) => ({ Put: { TableName: recordsTable, Item } }));
      await client.send(new TransactWriteCommand({ TransactItems }));
      ids.push(...projects.map(({ project_id }) => project_id));
    }
    return ids;
  } finally {
    client.destroy();
  }
}
