import { beforeAll, beforeEach } from 'vitest';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { Item } from '../../../shared/data/table/table.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import {
  type Answer,
  type Call,
  type TestService,
  type TestUser,
  testService,
} from '../../support/service.ts';

export const good = {
  'project-name': 'digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
};

/** A service, and for each test a caller and a key of its own. */
export interface KeyedRequests {
  service: TestService;
  owner: TestUser;
  key: string;
  /** Creates a project under the key. */
  create(call?: Call, endpoint?: AnyEndpoint): Promise<Answer>;
  /** What is kept for the caller's keys. */
  claims(): Promise<Item[]>;
  /** Changes the one claim of the caller, as time does. */
  age(set: Record<string, number | string>): Promise<void>;
  /** Ids of the caller's projects, newest first. */
  owned(): Promise<string[]>;
}

/** Call it in a `describe`; what it answers is filled before each test. */
export function keyedRequests(): KeyedRequests {
  const here = {} as KeyedRequests;

  beforeAll(async () => {
    here.service = await testService({ LOG_LEVEL: 'error' });
  });

  beforeEach(async () => {
    here.owner = await here.service.user('developer');
    here.key = `key of ${here.owner.user.username}`;
  });

  here.create = ({ headers, ...call } = {}, endpoint = createProject) => {
    const keyed = { 'Idempotency-Key': here.key, ...headers };
    return here.service.call(endpoint, { query: good, as: here.owner, ...call, headers: keyed });
  };

  here.claims = async () =>
    (await here.service.records.query({ pk: `IDEMPOTENCY#${here.owner.user.user_id}` })).items;

  here.age = async (set) => {
    const [claim] = await here.claims();
    await here.service.records.write({ update: claim!, change: { set } });
  };

  here.owned = async () => {
    const listed = await here.service.call(listProjects, { as: here.owner });
    return listed.json
      .filter((one: { owner_id: string }) => one.owner_id === here.owner.user.user_id)
      .map((one: { project_id: string }) => one.project_id);
  };

  return here;
}
