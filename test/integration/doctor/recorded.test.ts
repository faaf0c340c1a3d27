import { expect, test } from 'vitest';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { objectReader } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { loggedModelPartitions } from '../../../shared/data/experiments/logged-model.ts';
import { versionsPrefix } from '../../../shared/data/models/registered-model.ts';
import { projectPrefix } from '../../../shared/data/projects/project.ts';
import { testBucket } from '../../support/emulators.ts';
import { everyItem, everyObject, findOrphans } from '../../support/inventory.ts';
import { type TestService, testService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from '../mlflow/mlflow-caller.ts';

const files = 'api/2.0/mlflow-artifacts';

/** What the doctor finds of a service; the bucket of the tests is everybody's. */
async function findings(service: TestService, project_id: string, without: readonly string[] = []) {
  const client = dynamoDb(service.environment);
  const { ACCOUNTS_TABLE = '', RECORDS_TABLE = '' } = service.environment;
  const stored = await everyObject(objectReader(s3(service.environment), testBucket));
  const inventory = {
    accounts: await everyItem(client, ACCOUNTS_TABLE),
    records: (await everyItem(client, RECORDS_TABLE)).filter(
      ({ pk, sk }) => !without.includes(`${pk}/${sk}`),
    ),
    objects: stored.filter(({ key }) => key.startsWith(projectPrefix(project_id))),
  };
  return { inventory, found: findOrphans(inventory) };
}

async function ok(asked: ReturnType<MlflowCaller['call']>) {
  const answer = await asked;
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

/** A run and a logged model with files, some replaced and deleted, uploads that were not gone on with, a registry. */
async function recorded() {
  const service = await testService();
  const caller = mlflowCaller(service, await service.user('developer'));
  const { experiment_id: project_id, run_id } = await newRun(caller);
  const made = await ok(caller.post('logged-models', { experiment_id: project_id, name: 'tree' }));
  const { model_id } = made.model.info;
  for (const home of [`${project_id}/${run_id}/artifacts`, `${project_id}/models/${model_id}/artifacts`]) {
    for (const name of ['kept', 'replaced', 'replaced', 'gone'])
      await ok(caller.call('PUT', `${files}/artifacts/${home}/${name}`, { body: `bytes of ${name}` }));
    await ok(caller.call('DELETE', `${files}/artifacts/${home}/gone`));
    const body = JSON.stringify({ path: 'parts', num_parts: 2 });
    await ok(caller.call('POST', `${files}/mpu/create/${home}`, { body }));
  }
  const wide = { name: 'wide', digest: 'd', source_type: 'http', source: 's', schema: 'x'.repeat(60_000) };
  for (const digest of ['d', 'e'])
    await ok(
      caller.post('runs/log-inputs', { run_id, datasets: [{ dataset: { ...wide, digest }, tags: [] }] }),
    );
  await ok(caller.post('registered-models/create', { name: 'trees' }));
  await ok(caller.post('model-versions/create', { name: 'trees', source: `models:/${model_id}` }));
  return { service, caller, project_id, model_id };
}

test('the doctor finds nothing among what MLflow clients record', async () => {
  const { service, project_id } = await recorded();
  expect((await findings(service, project_id)).found).toEqual([]);
});

test('an object that was uploaded and not yet accepted is left over by nobody', async () => {
  const { service, project_id } = await recorded();
  const { inventory } = await findings(service, project_id);
  const { target } = inventory.records.find(
    ({ pk, target: one }) => pk === 'PURGES' && Object(one).announced,
  )!;
  const { object } = Object(target).announced;
  expect(findOrphans({ ...inventory, objects: [...inventory.objects, { key: object, size: 1 }] })).toEqual(
    [],
  );
});

test('what is left of a model whose record is gone is found, with its registry', async () => {
  const { service, project_id, model_id } = await recorded();
  const [models = '', modelFiles = ''] = loggedModelPartitions(project_id);
  const id = model_id.split('-').at(-1);
  const { inventory, found } = await findings(service, project_id, [
    `${models}/${id}`,
    'REGISTERED_MODELS/trees',
  ]);
  const version = inventory.records.find(({ record_type }) => record_type === 'model-version')!;
  const orphans = found.filter(({ kind }) => kind === 'orphan').map(({ where }) => where);
  expect(version.sk.startsWith(versionsPrefix(String(version['registration_id'])))).toBe(true);
  expect(orphans).toEqual(
    expect.arrayContaining([
      `${modelFiles}/${id}#kept`,
      `${modelFiles}/${id}#replaced`,
      `${version.pk}/${version.sk}`,
    ]),
  );
  const objects = inventory.objects.filter(({ key }) => key.includes(`/models/${id}/`));
  expect(objects).toHaveLength(2);
  expect(orphans).toEqual(expect.arrayContaining(objects.map(({ key }) => key)));
});
