import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Sender, Shot } from './send.ts';

const Made = z.object({ project_id: z.string() });
const Granted = z.object({ access_token: z.string() });

/** People, and the projects that each of them has. */
const people = 20;
const projectsEach = 2;
const password = 'a password of the load test';
const configFile = 'model:\n  layers: [64, 64]\ntraining:\n  epochs: 20\n  learning_rate: 0.01\n';

type Headers = Readonly<Record<string, string>>;

const parameters = (values: Readonly<Record<string, string>>): string =>
  new URLSearchParams(values).toString();

function newProject(headers: Headers): Shot {
  const query = parameters({
    'project-name': `Load ${randomUUID()}`,
    'project-description': 'A project of the load test',
    'project-type': 'tabular',
    'project-task': 'classification',
  });
  return { what: 'POST project', method: 'POST', path: `/projects/?${query}`, headers };
}

function newEnvironment(project: string, headers: Headers): Shot {
  const query = parameters({
    entry_point_command: `python train.py --seed ${Math.floor(Math.random() * 1e9)}`,
    env_type: 'python',
    dependencies: 'numpy',
  });
  return {
    what: 'PUT environment',
    method: 'PUT',
    path: `/projects/${project}/environment?${query}`,
    headers,
  };
}

function newConfig(project: string, headers: Headers): Shot {
  const body = `${configFile}seed: ${Math.floor(Math.random() * 1e9)}\n`;
  const path = `/projects/${project}/configs/train.yaml`;
  return { what: 'PUT config', method: 'PUT', path, headers, body };
}

type Make = (project: string, headers: Headers) => Shot;

const get =
  (what: string, path: (project: string) => string): Make =>
  (project, headers) => ({ what: `GET ${what}`, method: 'GET', path: path(project), headers });

/** What a team's clients ask for, with its share in a hundred: 80 reads and 20 writes. */
const mix: readonly (readonly [number, Make])[] = [
  [26, get('project', (project) => `/projects/${project}`)],
  [14, get('page of projects', () => '/projects/?limit=20')],
  [10, get('config', (project) => `/projects/${project}/configs/train.yaml`)],
  [8, get('configs', (project) => `/projects/${project}/configs`)],
  [8, get('environment', (project) => `/projects/${project}/environment`)],
  [6, get('experiments', (project) => `/projects/${project}/experiments`)],
  [4, get('graph', (project) => `/projects/${project}/configs/train.yaml/graph`)],
  [2, get('criteria', () => '/projects/criteria')],
  [2, get('health', () => '/health')],
  [7, (_, headers) => newProject({ ...headers, 'Idempotency-Key': randomUUID() })],
  [5, newConfig],
  [5, newEnvironment],
  [
    3,
    (project, headers) => ({
      what: 'PATCH project',
      method: 'PATCH',
      path: `/projects/${project}`,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ project_description: `Changed ${randomUUID()}` }),
    }),
  ],
];

/** Signing in with the right password. */
function signIn(username: string, secret: string): Shot {
  const body = parameters({ grant_type: 'password', username, password: secret });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return { what: 'POST token', method: 'POST', path: '/auth/token', headers, body };
}

const grantedHeaders = async (sender: Sender, username: string, secret: string): Promise<Headers> => {
  const { access_token } = Granted.parse(JSON.parse(await sender.require(signIn(username, secret))));
  return { Authorization: `Bearer ${access_token}` };
};

function newUser(username: string, headers: Headers): Shot {
  const body = JSON.stringify({ username, password, account_type: 'developer' });
  const json = { ...headers, 'Content-Type': 'application/json' };
  return { what: 'POST user', method: 'POST', path: '/users/', headers: json, body };
}

function drawn(project: string, headers: Headers): Shot {
  let rest = Math.random() * 100;
  for (const [share, make] of mix) {
    rest -= share;
    if (rest < 0) return make(project, headers);
  }
  throw new Error('the shares must add up to a hundred');
}

const oneOf = <T>(all: readonly T[]): T => {
  const one = all[Math.floor(Math.random() * all.length)];
  if (one === undefined) throw new Error('there are none to choose from');
  return one;
};

export interface Traffic {
  /** A request of somebody about one of their projects. */
  mixed(): Shot;
  signIn(): Shot;
}

/** Makes the people and projects that the requests are about. */
export async function prepareTraffic(sender: Sender, adminPassword: string): Promise<Traffic> {
  const admin = await grantedHeaders(sender, 'admin', adminPassword);
  const names = Array.from({ length: people }, (_, index) => `load-${index}`);
  const projects: { id: string; headers: Headers }[] = [];
  for (const name of names) {
    await sender.require(newUser(name, admin));
    const headers = await grantedHeaders(sender, name, password);
    for (let count = 0; count < projectsEach; count += 1) {
      const { project_id: id } = Made.parse(JSON.parse(await sender.require(newProject(headers))));
      await sender.require(newConfig(id, headers));
      await sender.require(newEnvironment(id, headers));
      projects.push({ id, headers });
    }
  }
  return {
    mixed() {
      const { id, headers } = oneOf(projects);
      return drawn(id, headers);
    },
    signIn: () => signIn(oneOf(names), password),
  };
}
