import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { type RunningS3, startS3Server } from '../../../infra/local/s3/s3-server.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { newProject } from '../../integration/projects/new-project.ts';
import { testBucket, testCredentials, testRegion } from '../emulators.ts';
import { type TestService, type TestUser, testService } from '../service.ts';
import type { Neighbour } from './corpus.ts';

const secret = 'what nobody may read or change';

/** A service of its own, with what must stay as it is around it: files outside its data folder, and a neighbour. */
export class Surroundings {
  readonly #folder: string;
  readonly #s3: RunningS3;
  readonly service: TestService;
  readonly owner: TestUser;
  readonly neighbour: Neighbour;

  private constructor(folder: string, server: RunningS3, service: TestService, owner: TestUser, id: string) {
    this.#folder = folder;
    this.#s3 = server;
    this.service = service;
    this.owner = owner;
    this.neighbour = { user_id: owner.user.user_id, username: owner.user.username, project_id: id };
  }

  static async start(more: Readonly<Record<string, string>> = {}): Promise<Surroundings> {
    const folder = await mkdtemp(join(tmpdir(), 'mps-injection-'));
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'canary.txt'), secret);
    await writeFile(join(folder, 'data/canary.txt'), secret);
    const server = await startS3Server({
      folder: join(folder, 'data/s3'),
      port: 0,
      region: testRegion,
      credentials: testCredentials,
      buckets: [testBucket],
    });
    const service = await testService({ S3_ENDPOINT: server.url, ...more });
    const owner = await service.user('developer');
    const project_id = await furnishedProject(service, owner);
    const around = new Surroundings(folder, server, service, owner, project_id);
    for (const key of [`projects/${project_id}/sources/a`, `pictures/${owner.user.user_id}/a/512.webp`]) {
      await around.objects.put(key, Buffer.from(secret), 'text/plain');
    }
    return around;
  }

  get objects() {
    return objectWriter(s3(this.service.environment), testBucket);
  }

  /** A folder beside the canary. */
  within(name: string): string {
    return join(this.#folder, name);
  }

  /** Everything that must be the same before and after. */
  async snapshot(): Promise<unknown> {
    const { user_id, project_id } = this.neighbour;
    const tables = [this.service.environment['ACCOUNTS_TABLE'], this.service.environment['RECORDS_TABLE']];
    const records = await Promise.all(tables.map((table) => this.#recordsOfNeighbour(table ?? '')));
    const prefixes = [`projects/${project_id}/`, `pictures/${user_id}/`];
    const objects = await Promise.all(prefixes.map((prefix) => this.#objects(prefix)));
    const names = ['canary.txt', 'data/canary.txt'];
    const files = await Promise.all(
      names.map(async (name) => {
        const { mtimeMs, mode, ino } = await stat(this.within(name));
        return { name, text: await readFile(this.within(name), 'utf8'), mtimeMs, mode, ino };
      }),
    );
    const folders = [await readdir(this.#folder), await readdir(this.within('data'))].map((all) =>
      all.filter((name) => name !== 'unpacked').sort(),
    );
    const prototype = Object.getOwnPropertyNames(Object.prototype).sort();
    const injected = await stat('/tmp/injected').then(
      () => 'there',
      () => 'not there',
    );
    return { records, objects, files, folders, prototype, injected };
  }

  async #recordsOfNeighbour(TableName: string): Promise<unknown[]> {
    const client = dynamoDb(this.service.environment);
    const own = [this.neighbour.user_id, this.neighbour.project_id];
    const found: Record<string, unknown>[] = [];
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const page = await client.send(
        new ScanCommand({ TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
      );
      found.push(...(page.Items ?? []).filter(belongsTo(own)));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    const keyOf = ({ pk, sk }: Record<string, unknown>) => `${pk}\n${sk}`;
    return found.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  async #objects(prefix: string): Promise<string[]> {
    const { objects } = await this.objects.list(prefix);
    return Promise.all(
      objects.map(async ({ key }) => {
        const body = await this.objects.read(key);
        return `${key}: ${Buffer.concat((await body?.toArray()) ?? []).toString()}`;
      }),
    );
  }

  async stop(): Promise<void> {
    await this.#s3.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Whether an item is one of the owner's: by its key, or by the ids that it holds. */
const belongsTo =
  (ids: readonly string[]) =>
  (item: Record<string, unknown>): boolean =>
    ['pk', 'sk', 'project_id', 'user_id', 'owner_id'].some((name) =>
      ids.some((id) => String(item[name]).split('#').includes(id)),
    );

/** A project with a configuration and an environment. Returns its id. */
export async function furnishedProject(service: TestService, as: TestUser): Promise<string> {
  const project_id = await newProject(service, as);
  const config = { path: { project_id, config_id: 'train.yaml' }, body: 'epochs: 3\n', as };
  const query = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
  const made = [
    await service.call(putConfig, config),
    await service.call(putEnvironment, { path: { project_id }, query, as }),
  ];
  for (const { status, text } of made) if (status !== 200) throw new Error(text);
  return project_id;
}
