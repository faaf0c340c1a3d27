import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';

const good = {
  'project-name': 'digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
};

describe('create project', () => {
  let service: TestService;
  let developer: TestUser;

  beforeAll(async () => {
    service = await testService();
    developer = await service.user('developer');
  });

  test('answers the project and lists it', async () => {
    const created = await service.call(createProject, { query: good, as: developer });
    expect(created.status).toBe(200);
    expect(created.json).toMatchObject({ project_name: 'digits', owner: developer.user.username });
    expect(created.headers['etag']).toMatch(/^"1-/);
    const listed = await service.call(listProjects, { as: developer });
    expect(listed.json).toEqual([{ ...created.json, experiments: 0 }]);
  });

  test('names every fault at once', async () => {
    const answer = await service.call(createProject, {
      query: 'project-name=&project-type=a&project-type=b&colour=red&project-task=t',
      as: developer,
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual(
      expect.arrayContaining([
        { in: 'query', name: 'project-name', message: 'is blank' },
        { in: 'query', name: 'project-description', message: 'is required' },
        { in: 'query', name: 'project-type', message: 'is given 2 times; give it once' },
        expect.objectContaining({ name: 'colour', message: expect.stringContaining('not a parameter') }),
      ]),
    );
  });

  test.each([
    ['nobody', undefined, 401],
    ['a guest', 'guest', 403],
    ['a viewer', 'viewer', 403],
  ] as const)('refuses %s', async (_, type, status) => {
    const answer = await service.call(createProject, {
      query: good,
      ...(type && { as: await service.user(type) }),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });
});
