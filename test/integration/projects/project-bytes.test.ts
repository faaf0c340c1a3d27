import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';
import { archive, send, sha256 } from './upload-file.ts';

const limit = 10_000;

describe('the limit of bytes of a project', () => {
  let service: TestService;
  let owner: TestUser;

  beforeAll(async () => {
    service = await testService({ LIMIT_PROJECT_BYTES: String(limit) });
    owner = await service.user('developer');
  });

  const project = async () => ({ project_id: await newProject(service, owner) });
  const fill = ({ project_id }: { project_id: string }, bytes: number) =>
    service.records.write(count(project_id, { bytes }));
  const ask = (path: { project_id: string }, bytes: Uint8Array) =>
    service.call(requestSourceUpload, {
      path,
      query: { sha256: sha256(bytes), size: String(bytes.length) },
      as: owner,
    });
  const accept = (path: { project_id: string }, bytes: Uint8Array) =>
    service.call(putSource, { path, query: { sha256: sha256(bytes) }, as: owner });
  const details = async (path: { project_id: string }) =>
    (await service.call(readProject, { path, as: owner })).json;
  const refusal = (used: number, more: number) =>
    `The project has ${used} of at most ${limit} bytes, so ${more} more do not fit.`;

  test('is named, with what is used, before an upload is sent', async () => {
    const path = await project();
    await fill(path, limit - 10);
    for (const [endpoint, at] of [
      [requestSourceUpload, path],
      [requestDatasetUpload, { ...path, dataset: 'digits' }],
    ] as const) {
      const query = { sha256: sha256(Buffer.from('any')), size: '11' };
      const refused = await service.call(endpoint, { path: at, query, as: owner });
      expect(refused.status).toBe(409);
      expect(refused.json.detail).toContain(refusal(limit - 10, 11));
      const fits = await service.call(endpoint, { path: at, query: { ...query, size: '10' }, as: owner });
      expect(fits.status).toBe(200);
    }
    expect(await details(path)).toMatchObject({ bytes: limit - 10, limit_bytes: limit });
  });

  test('holds for what was asked for while there was room', async () => {
    const path = await project();
    const bytes = archive('sent');
    expect(await send((await ask(path, bytes)).json.upload, bytes)).toBe(200);
    const dataset = { path: { ...path, dataset: 'digits' }, as: owner };
    const query = { sha256: sha256(bytes), size: String(bytes.length) };
    const { upload } = (await service.call(requestDatasetUpload, { ...dataset, query })).json;
    expect(await send(upload, bytes)).toBe(200);
    await fill(path, limit);
    const refused = await accept(path, bytes);
    expect(refused.status).toBe(409);
    expect(refused.json.detail).toContain(refusal(limit, bytes.length));
    expect((await service.call(putDataset, { ...dataset, query: { sha256: sha256(bytes) } })).status).toBe(
      409,
    );
    expect((await details(path)).bytes).toBe(limit);
  });

  test('is never passed by uploads that are accepted at the same moment', async () => {
    const path = await project();
    const archives = ['a', 'b', 'c', 'd'].map(archive);
    for (const bytes of archives) await send((await ask(path, bytes)).json.upload, bytes);
    const size = archives[0]!.length;
    expect(archives.map(({ length }) => length)).toEqual([size, size, size, size]);
    await fill(path, limit - 2 * size);
    const statuses = (await Promise.all(archives.map((bytes) => accept(path, bytes)))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([200, 200, 409, 409]);
    expect((await details(path)).bytes).toBe(limit);
  });

  test('does not count again what was accepted before', async () => {
    const path = await project();
    const [one, two] = [archive('one'), archive('two')];
    for (const bytes of [one, two]) {
      await send((await ask(path, bytes)).json.upload, bytes);
      expect((await accept(path, bytes)).status).toBe(200);
    }
    await fill(path, limit - one.length - two.length);
    expect((await ask(path, one)).status).toBe(200);
    expect((await accept(path, one)).status).toBe(200);
  });
});
