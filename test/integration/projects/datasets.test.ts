import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listDatasets } from '../../../functions/projects/uploads/list-datasets.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { partedMaxBytes } from '../../../shared/data/projects/upload.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { zip } from '../archive/archive-bytes.ts';
import { newProject } from './new-project.ts';
import { send, sha256 } from './upload-file.ts';

const randomBytes = seededBytes(5);

describe('data sets', () => {
  let service: TestService;
  let owner: TestUser;
  let path: { project_id: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    path = { project_id: await newProject(service, owner) };
  });

  const dataset = (name: string, bytes: Uint8Array, query: Record<string, string> = {}) =>
    service.call(putDataset, {
      path: { ...path, dataset: name },
      query: { sha256: sha256(bytes), ...query },
      as: owner,
    });
  async function uploadDataset(name: string, bytes: Uint8Array): Promise<void> {
    const { json } = await service.call(requestDatasetUpload, {
      path: { ...path, dataset: name },
      query: { sha256: sha256(bytes), size: String(bytes.length) },
      as: owner,
    });
    expect(await send(json.upload, bytes)).toBe(200);
  }

  test('have names and any format', async () => {
    const table = Buffer.from('a,b\n1,2\n');
    const zipped = zip({ 'x.npy': { content: randomBytes(100) } });
    for (const [name, bytes] of [
      ['train.csv', table],
      ['digits.npz', zipped],
    ] as const)
      await uploadDataset(name, bytes);
    expect((await dataset('train.csv', zipped)).json).toMatchObject({ dataset: 'train.csv', format: 'zip' });
    expect((await dataset('train.csv', table)).json).toEqual({
      dataset: 'train.csv',
      sha256: sha256(table),
      size: table.length,
      format: 'file',
      updated_at: expect.any(String),
    });
    expect((await dataset('digits.npz', zipped, { format: 'file' })).json).toMatchObject({ format: 'file' });
    expect((await dataset('digits.npz', zipped, { format: 'zip' })).status).toBe(400);
    const listed = await service.call(listDatasets, { path, as: owner });
    expect(listed.json.map((one: { dataset: string; format: string }) => [one.dataset, one.format])).toEqual([
      ['digits.npz', 'file'],
      ['train.csv', 'file'],
    ]);
    const page = await service.call(listDatasets, { path, query: 'limit=1', as: owner });
    expect(page.json).toHaveLength(1);
    expect(page.headers['link']).toContain('rel="next"');
  });

  test.each([
    ['no size', { sha256: 'a'.repeat(64) }, 'size', 'is required'],
    ['nothing', { sha256: 'a'.repeat(64), size: '0' }, 'size', `from 1 to ${partedMaxBytes}`],
    [
      'more than 100 GB',
      { sha256: 'a'.repeat(64), size: String(partedMaxBytes + 1) },
      'size',
      'whole number',
    ],
    ['a fraction', { sha256: 'a'.repeat(64), size: '1.5' }, 'size', 'whole number'],
    ['an exponent', { sha256: 'a'.repeat(64), size: '1e3' }, 'size', 'whole number'],
    ['no digest', { size: '1' }, 'sha256', 'is required'],
    ['a digest in upper case', { sha256: 'A'.repeat(64), size: '1' }, 'sha256', '64 lower-case'],
    ['a path for a digest', { sha256: `../${'a'.repeat(61)}`, size: '1' }, 'sha256', '64 lower-case'],
  ])('refuses %s', async (_, query, name, message) => {
    const fault = [{ in: 'query', name, message: expect.stringContaining(message) }];
    const source = await service.call(requestSourceUpload, { path, query: { ...query }, as: owner });
    expect(source.status).toBe(400);
    expect(source.json.errors).toEqual(fault);
    const set = await service.call(requestDatasetUpload, {
      path: { ...path, dataset: 'x' },
      query: { ...query },
      as: owner,
    });
    expect(set.json.errors).toEqual(fault);
  });

  test.each(['../x', '.x', 'x/y', '', 'ä', 'x'.repeat(129)])(
    'refuses the name %j of a data set',
    async (name) => {
      const call = { path: { ...path, dataset: name }, as: owner };
      const asked = await service.call(requestDatasetUpload, {
        ...call,
        query: { sha256: 'a'.repeat(64), size: '1' },
      });
      expect(asked.status).toBe(400);
      const put = await service.call(putDataset, { ...call, query: { sha256: 'a'.repeat(64) } });
      expect(put.json.errors).toEqual([expect.objectContaining({ in: 'path', name: 'dataset' })]);
    },
  );
});
