import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import type { Item } from '../../../shared/data/table/table.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { sample } from '../../support/injection/sample.ts';
import { sampled } from '../../support/samples.ts';
import type { Answer, TestService, TestUser } from '../../support/service.ts';
import { fixtureFiles, loadFixture, root, serviceWithRecords } from './fixture-records.ts';
import { readers } from './readers.ts';

/** Paths to the fixtures' records, by the names of their variables. */
const path = {
  project_id: '01m7zd37c8fvxfhbyjhxbvgrzb',
  config_id: 'train.yaml',
  experiment_id: '01m7zd37c8ghvxmh6vt3kqynn0',
  'path+': 'a/artifact.bin',
  path: 'a/artifact.bin',
  model_name: 'digits.onnx',
  strategy_id: '01m7zdsw5k36ghx7aevqd88kq6',
  username: 'ada',
  user_id: '01m7zd37c8ehm933t8h6rtmjze',
};

const endpoints = (await loadOperations(`${root}/functions`)).map(({ endpoint }) => endpoint);
const reads = endpoints.filter(({ method, allow }) => method === 'GET' && allow !== 'anyone');
const latest = (await Promise.all(fixtureFiles.map(loadFixture))).filter(
  ({ item: { schema_version } }) => schema_version === 0,
);

/** The requests to the tables that each GET has sent, as texts, by the endpoint's name. */
const sent = new Map<string, string[]>();
const asking = new AsyncLocalStorage<string>();

/** Notes them: what a GET answers depends on no record of a partition that none of them names. */
function noteRequests({ environment }: TestService): () => void {
  const client = dynamoDb(environment);
  const { send } = client;
  const spy = vi.spyOn(client, 'send');
  spy.mockImplementation((command: { input: unknown }, ...more) => {
    const name = asking.getStore();
    if (name !== undefined) sent.set(name, [...(sent.get(name) ?? []), JSON.stringify(command.input)]);
    return Reflect.apply(send, client, [command, ...more]);
  });
  return () => spy.mockRestore();
}

const asksFor =
  ({ pk }: Item) =>
  ({ name }: AnyEndpoint): boolean =>
    sent.get(name)?.some((request) => request.includes(JSON.stringify(pk))) ?? false;

/** What these GETs answer, all unless named, by the endpoint's name. */
async function readAll(
  { call }: TestService,
  as: TestUser,
  asked: readonly AnyEndpoint[] = reads,
): Promise<Map<string, Answer>> {
  const ask = async (endpoint: AnyEndpoint) =>
    [endpoint.name, await asking.run(endpoint.name, () => call(endpoint, { path, as }))] as const;
  return new Map(await Promise.all(asked.map(ask)));
}

/** What another answer has otherwise: the duration of an experiment that has not ended, and the time in a live cursor. */
const ofTheMoment = /"duration":[\d.]+|"after":"[^"]*"/g;

const latestKinds = latest.map(({ item }) => item['record_type']);
const unknown = 'of-a-later-release';

/** The item with one of its texts, at any depth, replaced: one variant for each. */
function variants(value: unknown): unknown[] {
  if (typeof value === 'string') return [unknown];
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    variants(member).map((changed) =>
      Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
    ),
  );
}

const withoutKey = ({ pk: _, sk: __, record_type: ___, ...attributes }: Item) => attributes;

const rows = (answer: Answer | undefined) => answer?.text.replace(ofTheMoment, '');

describe('a service beside a later release', () => {
  let service: TestService;
  let admin: TestUser;
  let before: Map<string, Answer>;

  beforeAll(async () => {
    service = await serviceWithRecords('0');
    admin = await service.user('admin', 'reader');
    const restore = noteRequests(service);
    before = await readAll(service, admin);
    restore();
  });

  test('shows records with attributes that it does not know as those without', async () => {
    expect(sent.size).toBeGreaterThan(20);
    for (const { table, item } of latest) {
      await service[table].write({ put: { ...item, of_a_later_release: { nested: [1, 'two'] } } });
    }
    const after = await readAll(service, admin);
    for (const { table, item } of latest) await service[table].write({ put: item });
    for (const [name, { status }] of before) {
      if (status !== 200) continue;
      const again = after.get(name);
      expect([name, again?.status, rows(again)]).toEqual([name, status, rows(before.get(name))]);
      expect(again?.headers['x-unreadable-records']).toBeUndefined();
    }
    expect([...before.values()].filter(({ status }) => status === 200).length).toBeGreaterThan(20);
  });

  test.each([
    ['project', 'listProjects', path.project_id],
    ['config', 'listConfigs', path.config_id],
    ['experiment', 'listExperiments', path.experiment_id],
    ['artifact', 'listArtifacts', path.path],
    ['model', 'listModels', path.model_name],
    ['strategy', 'listPruneStrategies', path.strategy_id],
    ['user', 'listUsers', path.user_id],
  ])('lists every other %s, and says how many are left out', async (kind, list, id) => {
    const { table, item } = await loadFixture(`0/${kind}.json`);
    const key = { pk: item.pk, sk: item.sk.replace(id, `${id.slice(0, -1)}1`) };
    await service[table].write({ put: { ...item, ...key, schema_version: 99 } });
    const asked = reads.filter(({ name }) => name === list);
    const after = (await readAll(service, admin, asked)).get(list);
    await service[table].write({ delete: key });
    expect(before.get(list)?.json).not.toHaveLength(0);
    expect([after?.status, rows(after)]).toEqual([200, rows(before.get(list))]);
    expect(after?.headers['x-unreadable-records']).toBe('1');
  });

  test.each(sampled(latest, 3).map(({ table, item }) => [item['record_type'], table, item] as const))(
    'answers each list and detail with a %s that it cannot read, whatever of it is new',
    async (kind, table, item) => {
      const isRead = async () => {
        try {
          return (await readers[String(kind)]?.(service, item)) !== undefined;
        } catch {
          return false;
        }
      };
      const concerned = reads.filter(asksFor(item));
      const others = reads.filter((endpoint) => !concerned.includes(endpoint));
      const ask = async (attributes: object, asked: readonly AnyEndpoint[]) => {
        for (const [name, { status, json }] of await readAll(service, admin, asked)) {
          const good = [before.get(name)?.status, 404, 409].includes(status);
          expect({ name, attributes, json: good ? {} : json }).toEqual({ name, attributes, json: {} });
        }
      };
      const newer = variants(withoutKey(item)) as object[];
      for (const [way, attributes] of sampled(newer, 12).entries()) {
        await service[table].write({ put: { ...item, ...attributes } });
        // Whatever cannot be read takes one way, which the last request goes.
        if (await isRead()) await ask(attributes, sample(concerned, way));
      }
      await service[table].write({ put: { ...item, schema_version: 99 } });
      await ask({ schema_version: 99 }, [...concerned, ...sample(others, latestKinds.indexOf(kind))]);
      await service[table].write({ put: item });
    },
  );
});
