import { ulid } from 'ulid';
import { beforeAll, expect, test } from 'vitest';
import { endpoint as deleteQuantize } from '../../../functions/optimization/compressions/quantize/delete-quantize-strategy.endpoint.ts';
import {
  addedVersion,
  changeServing,
  requirePresent,
  withVersion,
} from '../../../functions/optimization/serving/change-serving.ts';
import { endpoint as deleteServing } from '../../../functions/optimization/serving/delete-serving.endpoint.ts';
import { endpoint as deleteVersion } from '../../../functions/optimization/serving/delete-serving-version.endpoint.ts';
import { describeVersion } from '../../../functions/optimization/serving/describe-version.ts';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import { endpoint as putVersion } from '../../../functions/optimization/serving/put-serving-version.endpoint.ts';
import { endpoint as readServing } from '../../../functions/optimization/serving/read-serving.endpoint.ts';
import { listWarm, servingPartition } from '../../../shared/data/models/serving.ts';
import type { Key } from '../../../shared/data/table/table.ts';
import { type OptimizationService, optimizationService } from '../../support/optimization.ts';
import { everySample } from '../../support/samples.ts';
import { ask, imageInput, protocol } from './served-model.ts';
import { objectsOf } from './session-limits.ts';

let service: OptimizationService;
let strategy_id: string;
const model_name = 'digits.onnx';
const path = { model_name };
beforeAll(async () => {
  service = await optimizationService({}, {}, undefined, () => {});
  const asked = await service.quantize();
  strategy_id = asked.json.strategy_id;
  await service.untilCompression('quantize', strategy_id, ({ status }) => status === 'SUCCEEDED');
});

const body = { inputs: [imageInput()] };

test('a served model answers with the version that its alias names, from the next request on', async () => {
  const { developer: as } = service;
  await service.call(putServing, { path, as });
  const alias = (target: string) =>
    service.call(putVersion, { path: { model_name, version: 'champion' }, query: { target }, as });
  const versionOf = async () => {
    const { json } = await protocol(service, `models/${model_name}/versions/champion`, { as });
    return json.parameters;
  };

  await alias('original');
  const before = await versionOf();
  await alias(strategy_id);
  const after = await versionOf();

  expect(before).toMatchObject({ version: 'original', strategy: null, receipt: null });
  expect(after).toMatchObject({
    version: strategy_id,
    strategy: strategy_id,
    receipt: `/optimization/quantize/strategies/${strategy_id}`,
  });
  const answer = await ask(service, model_name, body, { as });
  expect(answer.json.model_version).toBe('original');
});

test('the switch of an alias under the load of 16 clients loses no request', async () => {
  const { developer: as } = service;
  await service.call(putServing, { path, query: { version: 'champion' }, as });
  let isOver = false;
  const seen: { status: number; version: string }[] = [];
  const client = async () => {
    while (!isOver) {
      const { status, json } = await ask(service, model_name, body, { as });
      seen.push({ status, version: json.model_version });
    }
  };

  const clients = Array.from({ length: 16 }, client);
  for (const target of ['original', strategy_id, 'original', strategy_id]) {
    const put = await service.call(putVersion, {
      path: { model_name, version: 'champion' },
      query: { target },
      as,
    });
    expect(put.status).toBe(200);
    const next = await ask(service, model_name, body, { as });
    expect(next.json.model_version).toBe(target);
  }
  isOver = true;
  await Promise.all(clients);

  expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
  expect(new Set(seen.map(({ version }) => version))).toEqual(new Set(['original', strategy_id]));
});

test('its counters say how often each version was asked', async () => {
  const { developer: as } = service;
  const { json: before } = await service.call(readServing, { path, as });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await ask(service, model_name, body, { as });
  await ask(service, model_name, { inputs: [] }, { as });
  const counted = async () => (await service.call(readServing, { path, as })).json;
  const of = ({ versions }: typeof before) =>
    versions.find(({ version }: { version: string }) => version === strategy_id).counters;

  await expect.poll(async () => of(await counted()).errors).toBe(of(before).errors + 1);
  const after = await counted();
  expect(of(after).requests).toBeGreaterThanOrEqual(of(before).requests + 2);
  expect(of(after).p95_ms).toBeGreaterThanOrEqual(of(after).p50_ms);
  expect(after.estimate).toEqual({ month: null, million_requests: null });
});

test('a version in use stays, and so does the result that it serves', async () => {
  const { developer: as } = service;

  const version = await service.call(deleteVersion, { path: { model_name, version: strategy_id }, as });
  const strategy = await service.call(deleteQuantize, { path: { strategy_id }, as });

  expect(version.status).toBe(409);
  expect(version.json.detail).toContain('champion');
  expect(strategy.status).toBe(409);
  expect(strategy.json.detail).toContain('is served');
});

test('what cannot be served is refused with the number', async () => {
  const { developer: as } = service;
  const environment = { ...service.environment, LIMIT_SERVING_MEMORY: '256' };

  const memory = await service.call(putServing, { path, query: { memory: '9000' }, as });
  const small = await service.call(putServing, { path, as, environment });
  const unknown = await service.call(putServing, { path, query: { version: 'challenger' }, as });
  const alias = await service.call(putVersion, { path: { model_name, version: 'challenger' }, as });

  expect([memory.status, small.status, unknown.status, alias.status]).toEqual([400, 200, 409, 400]);
  expect(memory.json.detail).toContain('must be at most 2816 MiB');
  expect(unknown.json.detail).toContain('no version or alias challenger');
  const again = await service.call(putVersion, {
    path: { model_name, version: 'original' },
    as,
    environment,
  });
  expect(again.json.detail).toContain('needs about 161 MiB of memory, but the function has 64 for models');
});

test.runIf(everySample)('a model has a bounded number of aliases', async () => {
  const { developer: as } = service;
  const alias = (name: string) =>
    service.call(putVersion, { path: { model_name, version: name }, query: { target: 'original' }, as });

  for (let number = 1; number < 100; number += 1) await alias(`alias-${number}`);
  const refused = await alias('one-more');

  expect(refused.status).toBe(409);
  expect(refused.json.detail).toContain('at most 100 aliases');
});

test.runIf(everySample)(
  'a strategy that is deleted and served at the same moment is only one of them',
  async () => {
    const { developer: as } = service;
    const finished = async () => {
      const { json } = await service.quantize();
      await service.untilCompression('quantize', json.strategy_id, ({ status }) => status === 'SUCCEEDED');
      return json.strategy_id as string;
    };
    await service.call(putServing, { path, as });
    const [deleted, served] = [await finished(), await finished()];
    const remove = (id: string) => service.call(deleteQuantize, { path: { strategy_id: id }, as });
    const add = (id: string) => service.call(putVersion, { path: { model_name, version: id }, as });

    // It is deleted after the change of the serving has read it.
    const context = {
      records: service.records,
      caller: { ...as.user, token_hash: '' },
      now: () => new Date(),
    };
    const adding = changeServing(model_name, context, async (model, present) => {
      const next = requirePresent(model_name, present);
      const version = await describeVersion(model, deleted, { ...context, objects: objectsOf(service) });
      await remove(deleted);
      return {
        next: { ...next, versions: withVersion(next.versions, version) },
        also: addedVersion(version),
      };
    });
    await expect(adding).rejects.toThrow('There is no strategy');
    const { json } = await service.call(readServing, { path, as });
    expect(json.versions.map(({ version }: { version: string }) => version)).not.toContain(deleted);

    // It is served after the delete has read the serving.
    let isServed = false;
    const records = {
      ...service.records,
      get: async (key: Key) => {
        const found = await service.records.get(key);
        if (key.pk === servingPartition && !isServed) {
          isServed = true;
          await add(served);
        }
        return found;
      },
    };
    const deleting = deleteQuantize.handle(
      { path: { strategy_id: served } } as never,
      {
        ...context,
        records,
        header: () => undefined,
        newId: () => ulid(),
      } as never,
    );
    await expect(deleting).rejects.toThrow('is served as a version');
    expect(isServed).toBe(true);
    const answer = await protocol(service, `models/${model_name}/versions/${served}/ready`, { as });
    expect(answer.status).toBe(200);
  },
);

test('a model that is turned off answers no longer', async () => {
  const { developer: as } = service;

  const off = await service.call(deleteServing, { path, as });

  expect(off.json).toEqual({ model_name, served: false });
  expect((await ask(service, model_name, body, { as })).status).toBe(404);
  expect((await service.call(readServing, { path, as })).status).toBe(404);
});

test('warm models are on a list, which every change keeps', async () => {
  const { developer: as, records } = service;
  const change = (warm: string) => service.call(putServing, { path, query: { warm }, as });
  const listed: string[][] = [];

  for (const warm of ['true', 'true', 'false', 'true']) {
    await change(warm);
    listed.push(await listWarm(records));
  }
  await service.call(deleteServing, { path, as });
  listed.push(await listWarm(records));

  expect(listed).toEqual([[model_name], [model_name], [], [model_name], []]);
});

test('a model for anyone says what its callers share with the service', async () => {
  const { developer: as, environment } = service;
  const told = async (variables: Record<string, string>) => {
    const query = { access: 'anyone' };
    const own = { ...environment, ...variables };
    return (await service.call(putServing, { path, query, as, environment: own })).json.concurrency;
  };

  const shared = await told({ LIMIT_CONCURRENT_FUNCTIONS: '10' });
  const reserved = await told({ LIMIT_CONCURRENT_FUNCTIONS: '1000', LIMIT_SERVING_CONCURRENCY: '50' });

  expect(shared).toContain("the account's 10 concurrent functions with the whole service");
  expect(reserved).toBeNull();
  expect(await told({ JOBS_RUN_AS: 'processes' })).toBeNull();
});
