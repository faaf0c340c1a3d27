import { expect, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as putArtifact } from '../../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import { endpoint as requestUpload } from '../../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { objectReader } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { testBucket } from '../../support/emulators.ts';
import { experimentOf } from '../../support/experiment.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';

async function uploading() {
  const service = await testService();
  const as = await service.user('developer');
  const project_id = await newProject(service, as);
  const made = await service.call(createExperiment, { path: { project_id }, ...json({}), as });
  const path = { project_id, experiment_id: String(made.json.experiment_id) };
  const ask = (name: string, bytes: Uint8Array, query: Record<string, string> = {}) =>
    service.call(requestUpload, {
      path: { ...path, path: name },
      query: { sha256: sha256(bytes), size: String(bytes.length), ...query },
      as,
    });
  const accept = (name: string, upload_id: string) =>
    service.call(putArtifact, { path: { ...path, path: name }, query: { upload_id }, as });
  return { service, as, path, ask, accept };
}

test('a client stores a file of an experiment that it records', async () => {
  const { service, as, path, ask, accept } = await uploading();
  const [first, second] = [Buffer.from('{"a": 1}'), Buffer.from('{"a": 22}')];
  const asked = await ask('deep/model.json', first);
  expect((await accept('deep/model.json', asked.json.upload_id)).status).toBe(409);
  expect(await send(asked.json.upload, second)).toBeGreaterThanOrEqual(400);
  expect(await send(asked.json.upload, first)).toBe(200);
  const accepted = await accept('deep/model.json', asked.json.upload_id);
  expect(accepted.json, accepted.text).toMatchObject({
    path: 'deep/model.json',
    size: 8,
    sha256: sha256(first),
    media_type: 'application/json',
  });
  expect((await accept('deep/model.json', asked.json.upload_id)).json).toEqual(accepted.json);

  const again = await ask('deep/model.json', second);
  await send(again.json.upload, second);
  expect((await accept('deep/model.json', again.json.upload_id)).status).toBe(200);
  // The first one has been replaced: it is not an upload any more.
  expect((await accept('deep/model.json', asked.json.upload_id)).status).toBe(409);
  const { json: files } = await service.call(listArtifacts, { path, as });
  expect(files).toMatchObject([{ path: 'deep/model.json', size: 9 }]);
  const redirect = await service.call(downloadArtifact, { path: { ...path, path: 'deep/model.json' }, as });
  expect(await (await fetch(redirect.headers['location'] ?? '')).text()).toBe('{"a": 22}');
  const objects = objectReader(s3(service.environment), testBucket);
  const stored = await objects.list(`projects/${path.project_id}/experiments/`);
  expect(stored.objects).toHaveLength(1);
});

test('an upload keeps to its experiment, its path and its limits', async () => {
  const { service, as, path, ask, accept } = await uploading();
  const bytes = Buffer.from('x');
  for (const name of ['../x', 'a//b', '/a', 'a/./b', 'a\\b', 'a'.repeat(1001)])
    expect([name, (await ask(name, bytes)).status]).toEqual([name, 400]);
  expect((await ask('large', bytes, { size: '5000000001' })).status).toBe(400);
  const asked = await ask('mine', bytes);
  await send(asked.json.upload, bytes);
  const other = await service.call(createExperiment, { path, ...json({}), as });
  const elsewhere = { ...path, experiment_id: String(other.json.experiment_id), path: 'mine' };
  const query = { upload_id: String(asked.json.upload_id) };
  expect((await service.call(putArtifact, { path: elsewhere, query, as })).status).toBe(409);
  expect((await accept('mine', asked.json.upload_id)).status).toBe(200);

  const training = experimentOf(path.project_id, 0.5);
  await service.records.write(putExperiment(training));
  const ofTraining = { ...path, experiment_id: training.experiment_id, path: 'mine' };
  const size = { sha256: sha256(bytes), size: '1' };
  expect((await service.call(requestUpload, { path: ofTraining, query: size, as })).status).toBe(409);
  expect((await service.call(putArtifact, { path: ofTraining, query, as })).status).toBe(409);
});
