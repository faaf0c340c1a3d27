import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as downloadDataset } from '../../../functions/projects/uploads/download-dataset.endpoint.ts';
import { endpoint as downloadSource } from '../../../functions/projects/uploads/download-source.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';
import { archive, send, sha256 } from './upload-file.ts';

describe('what was uploaded is downloaded again', () => {
  let service: TestService;
  let owner: TestUser;
  let viewer: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    [owner, viewer] = await Promise.all([service.user('developer'), service.user('viewer')]);
    project_id = await newProject(service, owner);
  });

  async function upload(bytes: Uint8Array, dataset?: string, query: Record<string, string> = {}) {
    const [request, accept] =
      dataset === undefined ? [requestSourceUpload, putSource] : [requestDatasetUpload, putDataset];
    const path = { project_id, ...(dataset !== undefined && { dataset }) };
    const given = { sha256: sha256(bytes) };
    const asked = { path, query: { ...given, size: String(bytes.length) }, as: owner };
    await send((await service.call(request, asked)).json.upload, bytes);
    const accepted = await service.call(accept, { path, query: { ...given, ...query }, as: owner });
    expect(accepted.status).toBe(200);
  }

  /** Bytes, file name and media type that a viewer gets by the redirect. */
  async function fetched(dataset?: string, version?: Uint8Array) {
    const answer = await service.call(dataset === undefined ? downloadSource : downloadDataset, {
      path: { project_id, ...(dataset !== undefined && { dataset }) },
      query: version === undefined ? {} : { sha256: sha256(version) },
      as: viewer,
    });
    if (answer.status !== 302) return answer;
    const got = await fetch(answer.headers['location'] ?? '');
    const name = /filename="([^"]*)"/.exec(got.headers.get('content-disposition') ?? '')?.[1];
    return [Buffer.from(await got.arrayBuffer()), name, got.headers.get('content-type')];
  }

  test('the source: the present one, and earlier ones by their hash', async () => {
    expect(await fetched()).toMatchObject({
      status: 404,
      json: { detail: 'There is no source in this project.' },
    });
    const [first, second] = [archive('first'), archive('second')];
    await upload(first);
    await upload(second);
    expect(await fetched()).toEqual([second, 'source.tar.gz', 'application/gzip']);
    expect(await fetched(undefined, second)).toEqual(await fetched());
    expect(await fetched(undefined, first)).toEqual([first, 'source.tar.gz', 'application/gzip']);
    const never = archive('never');
    expect(await fetched(undefined, never)).toMatchObject({
      status: 404,
      json: { detail: `There is no source with the SHA-256 ${sha256(never)} in this project.` },
    });
  });

  test('a data set: an archive gets its ending, a file keeps its name', async () => {
    const [table, packed] = [Buffer.from('1,2\n'), archive('data')];
    await upload(table, 'digits.csv');
    expect(await fetched('digits.csv')).toEqual([table, 'digits.csv', 'application/octet-stream']);
    await upload(table, 'digits');
    await upload(packed, 'digits');
    expect(await fetched('digits')).toEqual([packed, 'digits.tar.gz', 'application/gzip']);
    expect(await fetched('digits', table)).toEqual([table, 'digits', 'application/octet-stream']);
    await upload(packed, 'packed', { format: 'file' });
    expect(await fetched('packed')).toEqual([packed, 'packed', 'application/octet-stream']);
    expect(await fetched('absent')).toMatchObject({ status: 404 });
    // What was announced and not accepted is nobody's.
    const late = Buffer.from('late');
    const query = { sha256: sha256(late), size: '4' };
    const asked = { path: { project_id, dataset: 'digits' }, query, as: owner };
    await send((await service.call(requestDatasetUpload, asked)).json.upload, late);
    expect(await fetched('digits', late)).toMatchObject({ status: 404 });
  });
});
