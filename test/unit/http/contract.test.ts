import { execFile } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { serviceDocument } from '../../../infra/service/openapi-document.ts';
import { routeOf } from '../../../infra/service/routes.ts';
import { problemKinds } from '../../../shared/http/definition/problem.ts';
import { isOperation } from '../../../shared/http/definition/request-method.ts';
import { problemsOf } from '../../../shared/http/openapi/problems.ts';

const functions = join(import.meta.dirname, '../../../functions');
const loaded = await loadEndpoints(functions);
const endpoints = loaded.map(({ endpoint }) => endpoint);
/** Proxies serve what others have defined. */
const named = endpoints.filter(isOperation).map((endpoint) => [endpoint.name, endpoint] as const);

/** Operations that need nobody to be signed in, by the contract. */
const openToAnyone = [
  'GET /users/check/{username}',
  'POST /users/',
  'POST /auth/session',
  'POST /auth/token',
  'POST /auth/oidc/exchange',
  'GET /auth/oidc/start',
  'GET /auth/oidc/callback',
  'POST /auth/oidc/device',
  'POST /auth/oidc/token',
  'GET /',
  'GET /health',
  'GET /openapi.json',
  'GET /docs',
  'GET /cli/{file}',
  'GET /console',
  'GET /mlflow',
  'GET /v2',
  // Each model says who may ask it.
  'ANY /v2/{v2_path+}',
  'GET /console/{file}',
  'GET /cli/mps.schema.json',
  'GET /docs/agents.md',
  // For the session of a link, which they check themselves.
  'POST /links/session',
  'GET /links/shared',
  'GET /links/shared/blocks/{block}',
  'GET /links/shared/chart',
  'GET /links/shared/files',
  'GET /links/shared/files/{path+}',
];

/** Operations in a project that need no rule about it, and why. */
const withoutProjectRule: Readonly<Record<string, string>> = {
  readProject: 'reads the project itself',
};

const variables = (path: string): string[] =>
  [...path.matchAll(/\{(.+?)\+?\}/g)].map(([, name]) => name ?? '');
const repeated = (all: readonly string[]): string[] => all.filter((one, index) => all.indexOf(one) !== index);
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

// biome-ignore lint/suspicious/noExplicitAny: a test looks into the document
const paths: any = serviceDocument(loaded).paths;

describe('the example of a request', () => {
  test.each(
    named.flatMap(([name, { input, path, method }]) =>
      input.body?.kind === 'fields'
        ? [[name, input.body.schema.extend(input.queryOrBody?.shape ?? {}), path, method] as const]
        : [],
    ),
  )('of %s has the form that it accepts', (_, schema, path, method) => {
    const operation = paths[path.replace('+}', '}')]?.[method.toLowerCase()];
    const { example } = operation.requestBody.content['application/json'];

    expect(schema.safeParse(example).error?.issues ?? []).toEqual([]);
  });
});

describe('all endpoints together', () => {
  test('have names of their own', () => {
    expect(endpoints.length).toBeGreaterThan(25);
    expect(repeated(endpoints.map(({ name }) => name))).toEqual([]);
  });

  test('have routes of their own', () => {
    const routes = endpoints.map((endpoint) => `${endpoint.method} ${routeOf(endpoint).resource}`);
    expect(repeated(routes)).toEqual([]);
  });

  test('name sibling variables alike once they are routed, as API Gateway demands', () => {
    const children = new Map<string, Set<string>>();
    for (const endpoint of endpoints) {
      const segments = routeOf(endpoint).resource.split('/');
      for (const [position, segment] of segments.entries()) {
        if (!segment.startsWith('{')) continue;
        const parent = segments.slice(0, position).join('/');
        children.set(parent, (children.get(parent) ?? new Set()).add(segment));
      }
    }
    const quarrels = [...children].filter(([, names]) => names.size > 1);
    expect(children.size).toBeGreaterThan(3);
    expect(quarrels).toEqual([]);
  });

  test('that are open to anyone are those of the contract', () => {
    const open = endpoints
      .filter(({ allow }) => allow === 'anyone')
      .map(({ method, path }) => `${method} ${path}`);
    expect(openToAnyone).toEqual(expect.arrayContaining(open));
  });

  test('that are open to anyone have a throttle of their own, and the others need none', () => {
    const throttled = endpoints.filter(({ throttle }) => throttle !== undefined);
    expect(throttled.map(({ name }) => name).sort()).toEqual(
      endpoints.flatMap(({ name, allow }) => (allow === 'anyone' ? [name] : [])).sort(),
    );
  });

  test('that read say what they write, and no others do', () => {
    const writing = endpoints.filter(
      ({ method, needs }) =>
        method === 'GET' &&
        Object.values(needs).some(({ level }) => level === 'write' || level === 'control'),
    );
    const stated = endpoints.filter(({ writes }) => writes !== undefined);
    expect(writing.map(({ name }) => name)).toEqual(stated.map(({ name }) => name));
  });

  test('that need no rule about their project are listed', () => {
    const ruleless = endpoints.filter(
      ({ path, project }) => path.includes('{project_id}') && project === undefined,
    );
    expect(ruleless.map(({ name }) => name).sort()).toEqual(Object.keys(withoutProjectRule).sort());
  });
});

describe.each(named)('%s', (name, endpoint) => {
  const { method, path, allow, project, input, output, summary, description } = endpoint;
  const file = loaded.find((one) => one.endpoint === endpoint)?.file ?? '';

  test('is named like its file, which may leave out what its folder says', () => {
    const rooms = dirname(file)
      .split('/')
      .map((room) => room.replace(/s$/, ''));
    const short = rooms.map((room) => kebab(name).replace(`-${room}`, ''));
    expect(name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
    expect([kebab(name), ...short]).toContain(basename(file, '.endpoint.ts'));
  });

  test('takes the variables of its path, all of them and no others', () => {
    expect(Object.keys(input.path?.shape ?? {}).sort()).toEqual(variables(path).sort());
    expect(repeated(variables(path))).toEqual([]);
  });

  test('has a path of words and variables, a greedy one only at the end', () => {
    const segments = path.split('/').filter((segment) => segment !== '');
    for (const segment of segments) expect(segment).toMatch(/^([a-z][a-z0-9_.-]*|\{[a-z][a-z0-9_]*\+?\})$/);
    expect(segments.slice(0, -1).join('/')).not.toContain('+}');
  });

  test('has project_id where it has a rule about the project', () => {
    expect(project === undefined || variables(path).includes('project_id')).toBe(true);
  });

  test('is open to readers just where it only reads', () => {
    const changes = ['anyone', 'guest', 'developer', 'admin'];
    const reads = ['anyone', 'guest', 'viewer', 'developer', 'admin'];
    const isRead = method === 'GET' || endpoint.reads === true;
    expect(isRead ? reads : changes).toContain(allow);
    if (project !== undefined) {
      const roles = isRead ? ['viewer', 'owner'] : ['developer', 'owner', 'restore', 'remove'];
      expect(roles).toContain(project);
    }
  });

  test('declares one success, and a mask only where that is JSON', () => {
    const successes = Object.keys(output);
    expect(successes).toHaveLength(1);
    const [declared] = Object.values(output);
    if (endpoint.fieldsMask === true) expect(declared).not.toHaveProperty('kind');
  });

  test('has an ETag where it reads one record', () => {
    const isRecord = method === 'GET' && /\{\w+\}\/?$/.test(path) && output[302] === undefined;
    const isOpen = openToAnyone.includes(`${method} ${path}`);
    expect(!isRecord || isOpen || endpoint.etag === true).toBe(true);
  });

  test('takes no body with GET', () => {
    expect(method === 'GET' ? input.body : undefined).toBeUndefined();
  });

  test('declares each kind of problem once', () => {
    expect(repeated(endpoint.problems ?? [])).toEqual([]);
    const statuses = problemsOf(endpoint).map((kind) => String(problemKinds[kind].status));
    expect(repeated(statuses)).toEqual([]);
  });

  test('tells in a line what it does, and more in sentences', () => {
    expect(summary).toMatch(/^\p{Lu}.{4,78}[^.\s]$/u);
    if (description !== undefined) expect(description).toMatch(/^[\p{Lu}\p{N}`].*\.$/su);
  });
});

describe('importing every function', () => {
  test('reads no environment, opens no connection and starts nothing', async () => {
    const program = join(import.meta.dirname, 'import-functions.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program, functions], { env: {} });
    expect(JSON.parse(stdout)).toEqual({ imported: expect.any(Number), read: [], connected: 0, active: [] });
    expect(JSON.parse(stdout).imported).toBeGreaterThanOrEqual(endpoints.length);
  });
});
