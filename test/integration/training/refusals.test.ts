import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';

/** Nothing listens here: Batch is away, so that jobs are accepted and wait. */
const nobody = 'http://127.0.0.1:9';

describe('a training that cannot be', () => {
  let service: TestService;
  let as: TestUser;
  let project_id: string;

  const addConfig = (id: string, config_id: string) =>
    service.call(putConfig, { path: { project_id: id, config_id }, body: 'a: 1\n', as });
  const addEnvironment = (id: string) =>
    service.call(putEnvironment, {
      path: { project_id: id },
      query: { entry_point_command: 'true', env_type: 'system', dependencies: 'none' },
      as,
    });

  beforeAll(async () => {
    service = await testService({ BATCH_ENDPOINT: nobody, LIMIT_WAITING_JOBS: '1' });
    as = await service.user('developer');
    project_id = await newProject(service, as);
    await addConfig(project_id, 'train.yaml');
    await addEnvironment(project_id);
  });

  test('of an unknown configuration is 404', async () => {
    const answer = await service.call(train, { path: { project_id }, query: { config: 'other.yaml' }, as });
    expect(answer).toMatchObject({ status: 404, json: { detail: 'There is no config other.yaml.' } });
  });

  test('without an environment is 409', async () => {
    const bare = await newProject(service, as);
    await addConfig(bare, 'train.yaml');
    const answer = await service.call(train, {
      path: { project_id: bare },
      query: { config: 'train.yaml' },
      as,
    });
    expect(answer).toMatchObject({ status: 409, json: { detail: expect.stringContaining('environment') } });
  });

  test.each([
    ['', 'config', 'is required'],
    ['config=train.yaml&config=b.yaml', 'config', 'is given 2 times'],
    ['config=../train.yaml', 'config', 'must start with'],
    ['config=train.yaml&vcpus=3', 'vcpus', 'must be one of 0.25'],
    ['config=train.yaml&vcpus=1&memory=99999', 'memory', '2048 to 8192'],
    ['config=train.yaml&memory=abc', 'memory', 'whole number'],
    ['config=train.yaml&timeout=99999', 'timeout', 'at most 21600 s'],
    ['config=train.yaml&nodes=2', 'nodes', 'not a parameter'],
    ['config=train.yaml&gpus=1&vcpus=1.5', 'vcpus', 'whole number'],
    ['config=train.yaml&tags={"a":1}', 'tags', 'a: '],
    ['config=train.yaml&tags=a', 'tags', 'Example: {"stage":"baseline"}'],
    [`config=train.yaml&name=${'n'.repeat(129)}`, 'name', '128'],
    ['config=train.yaml&git_branch=main', 'git_branch', 'needs git_commit'],
  ])('with "%s" is 400 naming %s', async (query, name, message) => {
    const answer = await service.call(train, { path: { project_id }, query, as });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toContainEqual({
      in: 'query',
      name,
      message: expect.stringContaining(message),
    });
  });

  test('names what is wrong with the size and with the time together', async () => {
    const query = 'config=train.yaml&vcpus=3&timeout=99999';
    const { json } = await service.call(train, { path: { project_id }, query, as });
    expect(json.errors.map((fault: { name: string }) => fault.name)).toEqual(['vcpus', 'timeout']);
  });

  test('on more nodes than there may be vCPUs is 400', async () => {
    const answer = await service.call(trainRemote, { path: { project_id }, query: { nodes: '32' }, as });
    expect(answer).toMatchObject({ status: 400, json: { errors: [{ name: 'vcpus' }] } });
  });

  test('on a cluster without saying with which of several configurations is 409 naming them', async () => {
    const several = await newProject(service, as);
    await addConfig(several, 'a.yaml');
    await addConfig(several, 'b.yaml');
    await addEnvironment(several);
    const answer = await service.call(trainRemote, { path: { project_id: several }, as });
    expect(answer).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('a.yaml, b.yaml') },
    });
  });

  test('beyond the jobs that may wait is 409, and Batch being away refuses none of those before', async () => {
    const owner = await service.user('developer');
    const busy = await newProject(service, owner);
    const path = { project_id: busy };
    await service.call(putConfig, { path: { ...path, config_id: 'train.yaml' }, body: 'a: 1\n', as: owner });
    const query = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
    await service.call(putEnvironment, { path, query, as: owner });
    const begin = () => service.call(train, { path, query: { config: 'train.yaml' }, as: owner });
    const answers = await Promise.all(Array.from({ length: 6 }, begin));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), 409]);
    expect(answers.find(({ status }) => status === 200)?.json.status).toBe('CREATED');
    expect(answers.find(({ status }) => status === 409)?.json.detail).toContain('You have 1 waiting jobs');
  });
});
