import { setTimeout as sleep } from 'node:timers/promises';
import { ulid } from 'ulid';
import { endpoint as putEnvironment } from '../../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { issueToken } from '../../../../shared/data/accounts/token.ts';
import { createUser, type User } from '../../../../shared/data/accounts/user.ts';
import { listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../../shared/data/jobs/job-status.ts';
import { pick } from '../../../support/random-choice.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { must } from '../world/ask.ts';
import { pass } from '../world/pass.ts';
import { newDeveloper, type Service } from '../world/service.ts';
import type { KnownAccounts } from './account-request.ts';
import type { Accounts } from './accounts-world.ts';
import { asker, Clock, perform, type Request } from './client.ts';
import { experimentRequests } from './experiment-requests.ts';
import { linearize } from './linearize.ts';
import { type KnownProject, projectRequests } from './project-requests.ts';
import { noProject, type ProjectState } from './project-world.ts';
import { newSharing, sharingRequests } from './sharing-requests.ts';
import { tokenRequests } from './token-requests.ts';
import { userRequests } from './user-requests.ts';
import { newVariables, variableRequests } from './variable-requests.ts';
import { World } from './world.ts';

const clients = 8;
/** Requests of each client. */
const requestsEach = 14;

/** Unfinished jobs of a user at a time; others wait in line. */
const maxPlaces = 2;

const roots = ['root-a', 'root-b'] as const;

/** Two admins, who can do away with each other. */
async function admins({ accounts }: Service): Promise<{ world: World<Accounts>; known: KnownAccounts }> {
  const initial: Accounts = { users: {}, tokens: {} };
  const [users, tokens] = [{ ...initial.users }, { ...initial.tokens }];
  const known: KnownAccounts = { names: [...roots, 'ann', 'bob', 'cid'], ids: new Set(), tokens: [] };
  for (const username of roots) {
    const now = new Date();
    const user_id = ulid().toLowerCase();
    const user: User = {
      user_id,
      username,
      account_type: 'admin',
      created_at: now.toISOString(),
      version: 1,
      credentials_version: 1,
    };
    await createUser(accounts, user, 'no password');
    users[username] = { id: user_id, type: 'admin', credentials: 1, password: 'none' };
    known.ids.add(user_id);
    for (const name of ['one', 'two']) {
      const token_id = ulid().toLowerCase();
      const { bearer } = await issueToken(accounts, user, { token_id, now, seconds: 3600, name });
      tokens[bearer] = { user: user_id, credentials: 1, isRevoked: false };
      known.tokens.push({ bearer, user: user_id, token_id });
    }
  }
  return { world: new World('accounts', { users, tokens }), known };
}

/** A project that is there, and one that every client makes with the same key. */
async function projects({ environment }: Service, token: string): Promise<KnownProject[]> {
  const query = {
    'project-name': 'there',
    'project-description': 'There from the start',
    'project-type': 'tabular',
    'project-task': 'classification',
  };
  const { project_id } = await must(createProject, environment, { query, token });
  const set = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
  await must(putEnvironment, environment, { path: { project_id }, query: set, token });
  const there: ProjectState = { ...noProject, isMade: true, project: { name: 'there', version: 1 } };
  return [
    { world: new World('there', there), id: project_id, key: undefined, experiments: new Set() },
    { world: new World('keyed', noProject), id: undefined, key: ulid(), experiments: new Set() },
  ];
}

export interface Lived {
  requests: number;
  /** What no sequential service could have answered. */
  anomalies: string[];
}

function findAnomalies<S>({ name, initial, steps }: World<S>): string[] {
  const { isLinear, order, stuck, state } = linearize(initial, steps);
  if (isLinear) return [];
  const tried = stuck.map(({ what, from, to }) => `  ${from}–${to} ${what}`);
  const before = order.slice(-12).map(({ what, from, to }) => `  ${from}–${to} ${what}`);
  return [
    `no order of ${name}; after\n${before.join('\n')}\n in ${JSON.stringify(state)} none of\n${tried.join('\n')}`,
  ];
}

/** Whether jobs wait in line, once all events have come, though there is a place for one. */
async function freePlaces(service: Service, project_id: string): Promise<string[]> {
  await pass(service, 120);
  const { items } = await listExperiments(service.records, project_id, {});
  const unfinished = items.filter(({ status }) => !isFinal(status));
  const waiting = unfinished.filter(({ line_ticket }) => line_ticket !== null);
  const placed = unfinished.length - waiting.length;
  if (waiting.length === 0 || placed === maxPlaces) return [];
  return [`${waiting.length} jobs wait in line while ${placed} of ${maxPlaces} places are taken`];
}

/** Lets the clients send what they draw, all at once, and looks for a sequential order of what they were answered. */
export async function liveHistory(service: Service, seed: number): Promise<Lived> {
  service.environment['LIMIT_UNFINISHED_JOBS'] = String(maxPlaces);
  service.settings.limits.unfinishedJobs = maxPlaces;
  const ask = asker(service.environment);
  const { token } = await newDeveloper(service);
  const { world, known } = await admins(service);
  const there = await projects(service, token);
  const sharing = await newSharing(service);
  const variables = await newVariables(service, token);
  const clock = new Clock();
  const anomalies: string[] = [];
  let requests = 0;

  const act = async (random: () => number): Promise<void> => {
    const accounts = [
      ...userRequests(ask, world, known, random),
      ...tokenRequests(ask, world, known, random),
    ];
    const inProjects = there.map((project) => [
      ...projectRequests(ask, token, project, random),
      ...(project.key === undefined ? experimentRequests(ask, token, project, random) : []),
    ]);
    const shared = sharingRequests(ask, sharing, random);
    const ofVariables = variableRequests(ask, token, variables, random);
    for (let sent = 0; sent < requestsEach; ) {
      const draw: () => Request | undefined = pick(
        random,
        pick(random, [accounts, ...inProjects, shared, ofVariables]),
      );
      const request = draw();
      if (request === undefined) continue;
      sent += 1;
      requests += 1;
      const wrong = await perform(clock, request);
      if (wrong !== undefined) anomalies.push(wrong);
      await sleep(random() * 4);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => act(seededRandom(seed * clients + index))));
  anomalies.push(
    ...findAnomalies(world),
    ...findAnomalies(sharing.world),
    ...findAnomalies(variables.world),
    ...there.flatMap((project) => findAnomalies(project.world)),
  );
  anomalies.push(...(await freePlaces(service, there[0]?.id ?? '')));
  return { requests, anomalies };
}
