import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { acceptUpload } from '../../../functions/projects/uploads/accept-upload.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { findModel } from '../../../shared/data/models/model.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { listPurges, recordPurge } from '../../../shared/data/projects/purge.ts';
import { findSource } from '../../../shared/data/projects/upload.ts';
import { testBucket } from '../../support/emulators.ts';
import { onnxFixture } from '../../support/model.ts';
import { emptyBatch } from '../../support/recorded-jobs.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { modelBench } from '../optimization/model-bench.ts';
import { newProject } from '../projects/new-project.ts';
import { archive, send, sha256 } from '../projects/upload-file.ts';

const hour = 3600;
const day = 24 * hour;

// One story: each test goes on from the one before it.
describe('an upload that was announced', { shuffle: false }, () => {
  let service: TestService;
  let owner: TestUser;
  let objects: ObjectWriter;

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    objects = objectWriter(s3(service.environment), testBucket);
  });

  /** A pass of the purge, so many seconds from now. */
  async function pass(
    seconds: number,
    more: Partial<ObjectWriter> = {},
    records = service.records,
  ): Promise<string[]> {
    const lines: string[] = [];
    const { accounts, environment } = service;
    await purge.run(undefined, {
      records,
      accounts,
      keys: accounts,
      batch: emptyBatch,
      objects: { ...objects, ...more },
      settings: readSettings(environment),
      now: () => new Date(Date.now() + seconds * 1000),
      log: createLogger('info', (line) => lines.push(line)),
    });
    return lines;
  }

  const announced = async () => (await listPurges(service.records, undefined)).items;
  const source = (bytes: Uint8Array) => ({ sha256: sha256(bytes), size: String(bytes.length) });

  async function sent(bytes: Uint8Array) {
    const path = { project_id: await newProject(service, owner) };
    const ask = () => service.call(requestSourceUpload, { path, query: source(bytes), as: owner });
    const { upload } = (await ask()).json;
    expect(await send(upload, bytes)).toBe(200);
    return {
      ask,
      upload,
      accept: () => service.call(putSource, { path, query: { sha256: sha256(bytes) }, as: owner }),
      stored: async () => (await objects.list(`projects/${path.project_id}/`)).objects.length,
      path,
    };
  }

  test('is removed after a day, and can be asked for anew', async () => {
    const bytes = archive('abandoned');
    const one = await sent(bytes);
    await pass(day - hour);
    expect(await one.stored()).toBe(1);
    await pass(day + 1);
    expect([await one.stored(), await announced()]).toEqual([0, []]);
    expect((await one.accept()).status).toBe(409);
    expect(await send((await one.ask()).json.upload, bytes)).toBe(200);
    expect((await one.accept()).status).toBe(200);
    expect(await announced()).toEqual([]);
  });

  test('stays once it is accepted, also where it is announced again', async () => {
    const bytes = archive('accepted');
    const one = await sent(bytes);
    expect((await one.accept()).status).toBe(200);
    expect((await one.ask()).status).toBe(200);
    expect(await announced()).toEqual([]);
    await pass(2 * day);
    expect(await one.stored()).toBe(1);
  });

  test('of a data set is removed as well', async () => {
    const path = { project_id: await newProject(service, owner), dataset: 'digits' };
    const bytes = Buffer.from('1,2,3');
    const { json } = await service.call(requestDatasetUpload, { path, query: source(bytes), as: owner });
    expect(await send(json.upload, bytes)).toBe(200);
    await pass(day + 1);
    const accept = { path, query: { sha256: sha256(bytes) }, as: owner };
    expect((await service.call(putDataset, accept)).status).toBe(409);
    expect((await objects.list(`projects/${path.project_id}/`)).objects).toEqual([]);
  });

  test('in parts ends with them', async () => {
    const path = { project_id: await newProject(service, owner), dataset: 'digits' };
    const bytes = Buffer.from('1,2,3,4');
    const query = { ...source(bytes), multipart: 'true' };
    const { json } = await service.call(requestDatasetUpload, { path, query, as: owner });
    expect(await send(json.parts[0], bytes)).toBe(200);
    await pass(day + 1);
    expect(await send(json.parts[0], bytes)).toBe(404);
    expect(await announced()).toEqual([]);
    expect((await service.call(requestDatasetUpload, { path, query, as: owner })).json.parts).toHaveLength(1);
  });

  test('is not accepted once its removal has begun, also where that was interrupted', async () => {
    const one = await sent(archive('interrupted'));
    const lines = await pass(day + 1, {
      delete: () => Promise.reject(new Error('storage is away')),
    });
    expect(lines.join()).toContain('storage is away');
    expect((await one.accept()).status).toBe(409);
    expect((await one.ask()).status).toBe(409);
    expect(await one.stored()).toBe(1);
    await pass(day + 2);
    expect([await one.stored(), await announced()]).toEqual([0, []]);
    expect((await one.ask()).status).toBe(200);
    await pass(2 * day);
  });

  test.each(['while its object is read', 'before it is written'])(
    'is not accepted by a request that outlives it, %s, for one that was announced since',
    async (when) => {
      const bytes = archive(`outlived ${when}`);
      const one = await sent(bytes);
      const { records, environment } = service;
      let isOver = false;
      const meanwhile = async (time: string) => {
        if (isOver || time !== when) return;
        isOver = true;
        await pass(day + 1);
        expect((await one.ask()).status).toBe(200);
      };
      const accept = acceptUpload(
        { kind: 'source', name: 'source', sha256: sha256(bytes), format: () => 'tar.gz' },
        {
          records: {
            ...records,
            async write(...writes) {
              await meanwhile('before it is written');
              await records.write(...writes);
            },
          },
          objects: {
            ...objects,
            async read(...of) {
              const found = await objects.read(...of);
              await meanwhile('while its object is read');
              return found;
            },
          },
          project: await requireProject(records, one.path.project_id),
          projectNow: () => requireProject(records, one.path.project_id),
          now: () => new Date(),
          header: () => undefined,
          expectedVersion: undefined,
          settings: readSettings(environment),
        },
      );
      await expect(accept).rejects.toMatchObject({ kind: 'conflict' });
      expect(await findSource(records, one.path.project_id)).toBeUndefined();
      expect(await announced()).toHaveLength(1);
      await pass(2 * day);
    },
  );

  test('that was announced anew is not forgotten by a removal that ends late', async () => {
    const bytes = archive('late');
    const one = await sent(bytes);
    await pass(day + 1, {
      async delete(keys) {
        await objects.delete(keys);
        await pass(day + 2);
        expect((await one.ask()).status).toBe(200);
      },
    });
    expect(await announced()).toHaveLength(1);
    expect(await send(one.upload, bytes)).toBe(200);
    expect((await one.accept()).status).toBe(200);
  });

  test('for a model stays where it is announced again while its day ends', async () => {
    const bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
    const bytes = onnxFixture('digits.onnx');
    await bench.upload(bytes);
    const { records } = service;
    let isAgain = false;
    await pass(
      day + 1,
      {},
      {
        ...records,
        async get(key) {
          const item = await records.get(key);
          if (key.pk === 'MODELS' && !isAgain) {
            isAgain = true;
            await bench.announce(bytes);
          }
          return item;
        },
      },
    );
    expect(isAgain).toBe(true);
    expect(await announced()).toHaveLength(1);
    expect((await bench.accept()).status).toBe(200);
  });

  test('for a model is removed after a day, with the model that it alone made', async () => {
    const bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
    const { json } = await bench.upload(onnxFixture('digits.onnx'));
    const prefix = `models/${json.model.model_id}/`;
    await pass(day - hour);
    expect((await objects.list(prefix)).objects).toHaveLength(1);
    await pass(day + 1);
    expect((await objects.list(prefix)).objects).toEqual([]);
    expect(await findModel(service.records, bench.path.model_name)).toBeUndefined();
    expect(await announced()).toEqual([]);
  });

  test('for a model in parts is aborted', async () => {
    const bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
    const bytes = onnxFixture('digits.onnx');
    await bench.announce(bytes, { multipart: 'true' });
    const pending = (await findModel(service.records, bench.path.model_name))?.pending[0];
    const parts = [{ part_number: 1, size: bytes.length }];
    const upload = [pending!.object, pending!.parts!.upload_id, parts] as const;
    expect(await objects.completeParts(...upload)).toEqual([1]);
    await pass(day + 1);
    expect(await objects.completeParts(...upload)).toBeUndefined();
  });

  test('for a model that was accepted stays, and a later file goes without it', async () => {
    const bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
    const bytes = onnxFixture('digits.onnx');
    const { json } = await bench.upload(bytes);
    expect((await bench.accept()).status).toBe(200);
    expect(await announced()).toEqual([]);
    const late = Buffer.from('PK\x03\x04 and more');
    await bench.upload(late, { file: 'calibration' });
    await pass(day + 1);
    expect((await objects.list(`models/${json.model.model_id}/`)).objects).toHaveLength(1);
    const model = await findModel(service.records, bench.path.model_name);
    expect([model?.status, model?.pending]).toEqual(['ready', []]);
  });

  test('for a model that was accepted stays where a crash kept the announcement', async () => {
    const bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
    const { json } = await bench.upload(onnxFixture('digits.onnx'));
    const [left] = await announced();
    expect((await bench.accept()).status).toBe(200);
    await service.records.write(recordPurge(left!));
    await pass(day + 1);
    expect((await objects.list(`models/${json.model.model_id}/`)).objects).toHaveLength(1);
    expect(await announced()).toEqual([]);
  });
});
