import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../shared/data/table.ts';
import { startDynamoDb } from '../dynamodb/engine.ts';
import { recordsTable } from '../start/function-environment.ts';
import { type Figure, type FigureOptions, figure } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { compare, type Target } from './load.ts';
import { newProject, projectItems } from './project-records.ts';
import { startService } from './service-process.ts';

const sizes = [10, 1_000, 100_000] as const;
type Size = (typeof sizes)[number];

const pageMost = 1.3;
const batchMost = 25;
const blocks = { turns: 6, seconds: 1 };

/** Writes projects straight into the engine's table: to create them one by one takes minutes. Returns the id of one. */
async function insertProjects(endpoint: string, owner_id: string, size: Size): Promise<string> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBDocumentClient(new DynamoDBClient({ region: 'us-east-1', endpoint, credentials }));
  let id = '';
  let items: Item[] = [];
  const flush = async (least: number) => {
    while (items.length > least) {
      const [batch, rest] = [items.slice(0, batchMost), items.slice(batchMost)];
      const puts = batch.map((Item) => ({ PutRequest: { Item } }));
      const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [recordsTable]: puts } }));
      if ((UnprocessedItems?.[recordsTable]?.length ?? 0) > 0) throw new Error('the engine did not take all items');
      items = rest;
    }
  };
  for (let count = 0; count < size; count += 1) {
    const project = newProject(owner_id);
    id = project.project_id;
    items.push(...(await projectItems(project)));
    await flush(batchMost);
  }
  await flush(0);
  client.destroy();
  return id;
}
