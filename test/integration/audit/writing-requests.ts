import { join } from 'node:path';
import { endpoint as putExperimentBudget } from '../../../functions/experiments/budget/put-experiment-budget.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as markProjectDeleted } from '../../../functions/projects/projects/mark-project-deleted.endpoint.ts';
import { endpoint as createSweep } from '../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as pauseSweep } from '../../../functions/projects/sweeps/pause-sweep.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { endpoint as putProfilePicture } from '../../../functions/users/pictures/put-profile-picture.endpoint.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { isAudited } from '../../../shared/http/definition/definition.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { onnxFixture } from '../../support/model.ts';
import type { Call } from '../../support/service.ts';
import { accessTable } from '../access/access-table.ts';
import { type Operation, operations } from '../access/operations.ts';
import type { PeopledService, Person } from '../access/people.ts';
import { sessionOf } from '../access/session-of.ts';
import { plain, red } from '../pictures/picture-service.ts';
import { archive, send, sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';

export const loaded = await loadEndpoints(join(import.meta.dirname, '../../../functions'));
export const endpoints = new Map(loaded.map(({ endpoint }) => [endpoint.name, endpoint]));

const externalSweep = { config: 'train.yaml', method: 'external', trials: 2 };
const size = { vcpus: '1', memory: '2048' };

/** Announces a file, sends it, and returns the query that accepts it. */
async function sent(
  service: PeopledService,
  own: Person,
  request: AnyEndpoint,
  path: Record<string, string>,
  bytes: Buffer,
): Promise<Call> {
  const query = { sha256: sha256(bytes), size: String(bytes.length) };
  const { upload } = await service.must(request, { as: own, path, query });
  await send(upload, bytes);
  return { query: { sha256: query.sha256 } };
}

/** Requests that change something, where the good request of the access table changes nothing. */
const changing: Readonly<Record<string, (service: PeopledService, own: Person) => Promise<Call>>> = {
  renewSession: async () => ({ headers: { 'User-Agent': 'another browser' } }),
  deleteProfilePicture: async (service, { user }) => {
    const body = await plain(red).png().toBuffer();
    const path = { username: user.username };
    await service.must(putProfilePicture, { path, body, headers: { 'Content-Type': 'image/png' } });
    return {};
  },
  restoreProject: async (service, { user }) => {
    const project_id = await service.projectOf(user);
    await service.must(markProjectDeleted, { path: { project_id } });
    return { path: { project_id } };
  },
  putEnvironment: async () => ({
    query: { entry_point_command: 'false', env_type: 'system', dependencies: 'none' },
  }),
  putConfig: async () => ({ body: 'a: 2\n' }),
  deleteExperiments: async (service, { project_id }) => {
    const { experiment_id } = await service.experimentIn(project_id, true);
    return json({ experiment_ids: [experiment_id] });
  },
  restoreExperiments: async (service, { project_id }) => {
    const { experiment_id } = await service.experimentIn(project_id, true);
    const body = json({ experiment_ids: [experiment_id] });
    await service.must(deleteExperiments, { path: { project_id }, ...body });
    return body;
  },
  updateExperiment: async (service, { project_id }) => {
    const { experiment_id } = await service.experimentIn(project_id, true);
    return { path: { experiment_id }, ...json({ name: 'another' }) };
  },
  logExperimentParams: async (service, { project_id }) => {
    const { experiment_id } = await service.must(createExperiment, { path: { project_id }, ...json({}) });
    return { path: { experiment_id }, ...json({ params: { lr: '0.1' } }) };
  },
  cancelExperiments: async (service, own) => {
    const path = { project_id: own.project_id };
    await service.must(trainProject, { as: own, path, query: { config: 'train.yaml', ...size } });
    return {};
  },
  putExperimentBudget: async (service, own) => {
    const path = { project_id: own.project_id };
    const query = { config: 'train.yaml', ...size };
    const { experiment_id } = await service.must(trainProject, { as: own, path, query });
    return { path: { experiment_id }, ...json({ amount: 500 }) };
  },
  requestSourceUpload: async () => ({ query: { sha256: 'a'.repeat(64), size: '7' } }),
  requestDatasetUpload: async () => ({ query: { sha256: 'a'.repeat(64), size: '7' } }),
  putSource: (service, own) =>
    sent(service, own, requestSourceUpload, { project_id: own.project_id }, archive('print(2)')),
  putDataset: (service, own) => {
    const path = { project_id: own.project_id, dataset: 'digits' };
    return sent(service, own, requestDatasetUpload, path, Buffer.from('4,5,6'));
  },
  putModel: async (service, own) => {
    const model_name = `m${newId()}`;
    await sent(service, own, createModel, { model_name }, onnxFixture('digits.onnx'));
    return { path: { model_name } };
  },
  resumeSweep: async (service, { project_id }) => {
    const { sweep_id } = await service.must(createSweep, { path: { project_id }, ...json(externalSweep) });
    await service.must(pauseSweep, { path: { project_id, sweep_id } });
    return { path: { sweep_id } };
  },
};

/** Operations that cannot change anything here: a sweep has no failed trial, the price of a run is unknown, only guests
 * register, nobody runs in CI, and no issuer signs people in. */
const unchanging = [
  'retrySweep',
  putExperimentBudget.name,
  'createUser, a viewer where registration is open',
  'exchangeToken',
  'finishSignIn',
  'redeemSignIn',
];

/** Rows of the access table that write something. */
export const writingRows = Object.keys(accessTable).filter((row) => {
  const endpoint = endpoints.get(row.split(',')[0] ?? '');
  return endpoint !== undefined && isAudited(endpoint) && !unchanging.includes(row) && !/reading/.test(row);
});

/** A request of a row that changes something. */
export async function writingRequest(
  service: PeopledService,
  row: string,
  endpoint: AnyEndpoint,
): Promise<Call> {
  const caller = endpoint.allow === 'admin' || row === 'createUser' ? 'admin' : 'developer';
  const operation: Operation = operations[row] ?? {};
  const own = { ...service.people[caller], ...(operation.newcomers && (await service.newcomer(caller))) };
  const target = /^deleteUser|^changeUserType/.test(row)
    ? { ...own, ...(await service.newcomer('developer')) }
    : own;
  const call = (await operation.call?.({ service, caller: own, target })) ?? {};
  const more = (await changing[row]?.(service, own)) ?? {};
  const session =
    /Sessions?$/.test(row) && row !== 'createSession' && row !== 'revokeSession'
      ? await sessionOf(service, own)
      : undefined;
  const named = {
    project_id: target.project_id,
    experiment_id: target.experiment_id,
    user_id: target.user.user_id,
    username: target.user.username,
    config_id: 'train.yaml',
    name: 'HF_TOKEN',
    dataset: 'digits',
    model_name: target.model_name,
    strategy_id: target.strategy_id,
    path: 'model.bin',
  };
  const headers = { ...session, ...call.headers, ...more.headers };
  return {
    ...call,
    ...more,
    headers,
    ...(session === undefined && { as: own }),
    path: { ...named, ...call.path, ...more.path },
  };
}
