import { ulid } from 'ulid';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { issueToken, revokeToken } from '../../../shared/data/accounts/token.ts';
import { type AccountType, storedPassword, type User } from '../../../shared/data/accounts/user.ts';
import { artifactObject } from '../../../shared/data/experiments/artifact.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import type { MemberRole } from '../../../shared/data/projects/member.ts';
import { count, createProject } from '../../../shared/data/projects/project.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { recordedCompression } from '../../support/compression.ts';
import { experimentOf } from '../../support/experiment.ts';
import { recordedModel } from '../../support/model.ts';
import { type Call, type TestUser, testService } from '../../support/service.ts';
import { archive, send, sha256 } from '../projects/upload-file.ts';

export const callers = [
  'none',
  'malformed',
  'expired',
  'revoked',
  'guest',
  'viewer',
  'developer',
  'other developer',
  'in a browser',
  'member developer',
  'member viewer',
  'admin',
  'deleted admin',
] as const;
export type Caller = (typeof callers)[number];

export const nobody = '01h00000000000000000000000';

const typeOf: Readonly<Record<Caller, AccountType>> = {
  none: 'developer',
  malformed: 'developer',
  expired: 'developer',
  revoked: 'developer',
  guest: 'guest',
  viewer: 'viewer',
  developer: 'developer',
  'other developer': 'developer',
  'in a browser': 'developer',
  'member developer': 'developer',
  'member viewer': 'developer',
  admin: 'admin',
  'deleted admin': 'admin',
};

export interface Person extends TestUser {
  project_id: string;
  experiment_id: string;
  model_name: string;
  /** Of a pruning and of a quantization. */
  strategy_id: string;
}

/** The ids in a path to what is a person's own; without one, of what does not exist. */
export function pathTo(person: Person | undefined) {
  return {
    project_id: person?.project_id ?? nobody,
    experiment_id: person?.experiment_id ?? nobody,
    user_id: person?.user.user_id ?? nobody,
    username: person?.user.username ?? 'nobody',
    config_id: 'train.yaml',
    name: 'HF_TOKEN',
    dataset: 'digits',
    model_name: person?.model_name ?? 'absent',
    strategy_id: person?.strategy_id ?? nobody,
    path: 'model.bin',
  };
}

export const password = 'a long sentence nobody guesses';
export const source = archive('print(1)');
export const dataset = Buffer.from('1,2,3');
export const command = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };

/** The service with somebody of every kind of caller, each of whom owns a project with something of everything. */
export async function peopledService(more: Readonly<Record<string, string>> = {}) {
  const service = await testService({
    ...more,
    BATCH_ENDPOINT: 'http://127.0.0.1:9',
    LIMIT_UNFINISHED_JOBS: '1000',
    LIMIT_VCPUS: '100000',
    SHARED_CLUSTER: 'yes',
    LOG_LEVEL: 'error',
  });
  const hash = await hashPassword(password);
  const founder = await service.user('admin');

  async function must(endpoint: AnyEndpoint, call: Call) {
    const answer = await service.call(endpoint, { as: founder, ...call });
    if (answer.status !== 200) throw new Error(`${endpoint.name}: ${answer.text}`);
    return answer.json;
  }

  /** A new user who has the password. */
  async function newcomer(caller: Caller): Promise<TestUser> {
    const made = await service.user(typeOf[caller]);
    const { user_id, created_at } = made.user;
    await service.accounts.write({ put: storedPassword(user_id, hash, created_at) });
    return made;
  }

  /** A new empty project of this user, whatever their type. */
  async function projectOf({ user_id, username, created_at }: User): Promise<string> {
    const project_id = ulid().toLowerCase();
    await createProject(service.records, {
      project_id,
      project_name: 'digits',
      project_description: 'Reads digits',
      project_type: 'vision',
      project_task: 'classification',
      owner: username,
      owner_id: user_id,
      created_at,
      updated_at: created_at,
      version: 1,
    });
    return project_id;
  }

  /** Shares a project with somebody. */
  const share = async (project_id: string, { user }: TestUser, role: MemberRole): Promise<void> => {
    await must(putMember, { path: { project_id, username: user.username }, query: { role } });
  };

  /** A new experiment: one that has ended, or one that runs. */
  async function experimentIn(project_id: string, hasEnded: boolean): Promise<Experiment> {
    const made = experimentOf(project_id, hasEnded ? 0.5 : null);
    await service.records.write(
      putExperiment(made),
      putJobConfig(made.experiment_id, Buffer.from('a: 1\n')),
      count(project_id, { experiments: 1 }),
    );
    return made;
  }

  async function artifactOf({ project_id, experiment_id, created_at }: Experiment): Promise<void> {
    const item = {
      pk: jobPartition(experiment_id),
      sk: 'ARTIFACT#model.bin',
      record_type: 'artifact',
      schema_version: 0,
      path: 'model.bin',
      size: 1,
      sha256: 'a'.repeat(64),
      media_type: 'application/octet-stream',
      object: artifactObject(project_id, experiment_id, ulid().toLowerCase()),
      created_at,
    };
    await service.records.write({ put: item });
  }

  async function upload(request: AnyEndpoint, accept: AnyEndpoint, path: Call['path'], bytes: Uint8Array) {
    const query = { sha256: sha256(bytes) };
    const asked = await must(request, { path: path ?? {}, query: { ...query, size: String(bytes.length) } });
    await send(asked.upload, bytes);
    await must(accept, { path: path ?? {}, query });
  }

  async function person(caller: Caller): Promise<Person> {
    const made = await newcomer(caller);
    const project_id = await projectOf(made.user);
    const path = { project_id, config_id: 'train.yaml', dataset: 'digits' };
    await must(putConfig, { path, body: 'a: 1\n' });
    await must(putEnvironment, { path, query: command });
    await must(putVariable, {
      path: { project_id, name: 'HF_TOKEN' },
      body: JSON.stringify({ value: 'a secret of the project' }),
      headers: { 'Content-Type': 'application/json' },
    });
    await upload(requestSourceUpload, putSource, path, source);
    await upload(requestDatasetUpload, putDataset, path, dataset);
    const experiment = await experimentIn(project_id, true);
    await artifactOf(experiment);
    const { model_name } = await recordedModel(service, made);
    const { strategy_id } = await recordedCompression(service, made, 'prune');
    await recordedCompression(service, made, 'quantize', true, strategy_id);
    return { ...made, project_id, experiment_id: experiment.experiment_id, model_name, strategy_id };
  }

  async function expiredToken({ user }: TestUser): Promise<string> {
    const now = new Date(Date.now() - 60_000);
    const options = { token_id: ulid().toLowerCase(), now, seconds: 59, name: null };
    return (await issueToken(service.accounts, user, options)).bearer;
  }

  async function revoke({ user, token }: TestUser): Promise<void> {
    const hash = sha256(Buffer.from(token.split('.')[1] ?? ''));
    await revokeToken(service.accounts, user.user_id, hash);
  }

  const made = await Promise.all(callers.map(async (caller) => [caller, await person(caller)] as const));
  const people = Object.fromEntries(made) as Record<Caller, Person>;
  await share(people.developer.project_id, people['member developer'], 'developer');
  await share(people.developer.project_id, people['member viewer'], 'viewer');
  people.expired.token = await expiredToken(people.expired);
  await revoke(people.revoked);
  await must(deleteUser, { query: { username: people['deleted admin'].user.username } });

  return { ...service, people, newcomer, projectOf, share, experimentIn, must };
}

export type PeopledService = Awaited<ReturnType<typeof peopledService>>;
