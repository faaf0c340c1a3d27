import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import type { Environment } from '../../../shared/core/needs.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import type { TokenScope } from '../../../shared/data/accounts/token-scope.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { scopeRule } from '../../../shared/http/pipeline/authenticate.ts';
import { grantingEmulator } from '../../support/granting-emulator.ts';
import { sampled } from '../../support/samples.ts';
import type { Call } from '../../support/service.ts';
import { accessTable } from './access-table.ts';
import { type Cell, type Operation, operations } from './operations.ts';
import { type Caller, callers, type PeopledService, type Person, pathTo, peopledService } from './people.ts';
import { isInScope, scopesOf, scopeTable } from './scope-table.ts';
import { sessionOf } from './session-of.ts';

const loaded = await loadEndpoints(join(import.meta.dirname, '../../../functions'));
const endpoints = new Map(loaded.map(({ endpoint }) => [endpoint.name, endpoint]));
const operationOf = (row: string) => row.split(',')[0] ?? '';

const targets = ['own', "other's", 'missing'] as const;
type Target = (typeof targets)[number];

const malformed: Readonly<Record<Target, string>> = {
  own: 'Bearer not-a-token',
  "other's": 'Basic YWRtaW46YWRtaW4=',
  missing: 'Bearer',
};

let service: PeopledService;
let engine: Awaited<ReturnType<typeof grantingEmulator>>;
/** What is allowed goes through an engine that checks grants: a right that the role of a function lacks fails here. */
let granted: Environment;
beforeAll(async () => {
  engine = await grantingEmulator();
  service = await peopledService();
  granted = { ...service.environment, DYNAMODB_ENDPOINT: engine.url };
});
afterAll(() => engine.close());

const isSignedIn = (caller: Caller) =>
  !['none', 'malformed', 'expired', 'revoked', 'deleted admin'].includes(caller);

async function cellOf(caller: Caller, target: Target, { newcomers }: Operation): Promise<Cell> {
  const { people } = service;
  const anew = async (kind: Caller): Promise<Person> => ({
    ...people[kind],
    ...(newcomers && isSignedIn(caller) && (await service.newcomer(kind))),
  });
  const self = await anew(caller);
  if (target === 'missing') return { service, caller: self, target: undefined };
  const other = caller === 'developer' ? 'other developer' : 'developer';
  return { service, caller: self, target: target === 'own' ? self : await anew(other) };
}

async function answerTo(
  endpoint: AnyEndpoint,
  operation: Operation,
  caller: Caller,
  target: Target,
  isAllowed: boolean,
) {
  const cell = await cellOf(caller, target, operation);
  const authorization = caller === 'malformed' ? malformed[target] : `Bearer ${cell.caller.token}`;
  const credentials =
    caller === 'in a browser' ? await sessionOf(service, cell.caller) : { Authorization: authorization };
  const call = (await operation.call?.(cell)) ?? {};
  const environment = isAllowed ? { environment: granted } : {};
  const signed = { ...call.headers, ...(caller !== 'none' && credentials) };
  const ask = async (path: Readonly<Record<string, string>>): Promise<number> => {
    const { status, headers } = await service.call(endpoint, {
      ...environment,
      ...call,
      headers: signed,
      path,
    });
    if (status === 401) expect(headers['www-authenticate']).toMatch(/^Bearer/);
    return status;
  };
  const status = await ask({ ...pathTo(cell.target), ...call.path });
  if (target !== 'missing' || operation.absent === undefined) return String(status);
  const absent = await ask({ ...pathTo(cell.caller), ...call.path, ...operation.absent });
  return absent === status ? String(status) : `${status} without the project, ${absent} within it`;
}

const isPublic = ({ allow, permit }: AnyEndpoint): boolean => allow === 'anyone' && permit === undefined;

/** A good request of this caller about what is their own. */
async function goodRequest(operation: Operation, caller: Caller): Promise<Call> {
  const cell = await cellOf(caller, 'own', operation);
  const call = (await operation.call?.(cell)) ?? {};
  return { ...call, path: { ...pathTo(cell.target), ...call.path } };
}

async function statusOfScoped(
  endpoint: AnyEndpoint,
  call: Call,
  { user }: Person,
  scope: TokenScope,
): Promise<string> {
  const options = { token_id: newId(), now: new Date(), seconds: 3600, name: 'scoped', scope };
  const { bearer } = await issueToken(service.accounts, user, options);
  const headers = { ...call.headers, Authorization: `Bearer ${bearer}` };
  return String((await service.call(endpoint, { ...call, headers })).status);
}

/** The scopes that each of these callers has in the table: all of those of developers, some of the others. */
const scoped = [
  ['developer', /./],
  ['guest', /own/],
  ['viewer', /own/],
  ['admin', /all/],
] as const;

/** The lines of a pattern, with one way to write spaces. */
const linesOf = (pattern: string) =>
  pattern
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' '));

describe('access', () => {
  test('the table has a row for every operation, and no other', () => {
    expect([...new Set(Object.keys(accessTable).map(operationOf))].sort()).toEqual(
      [...endpoints.keys()].sort(),
    );
    expect(Object.keys(accessTable)).toEqual(expect.arrayContaining(Object.keys(operations)));
  });

  test('to what is in another project there is none by the path of one of the own', async () => {
    const caller = service.people['other developer'];
    const target = service.people.developer;
    const found: string[] = [];
    const rows = Object.keys(accessTable).filter((row) =>
      /\/\{project_id\}\/.*\{(?:experiment|sweep)_id\}/.test(endpoints.get(operationOf(row))?.path ?? ''),
    );

    for (const row of rows) {
      const endpoint = endpoints.get(operationOf(row));
      if (endpoint === undefined) throw new Error('there is no such operation');
      const call = (await operations[row]?.call?.({ service, caller, target })) ?? {};
      const path = { ...pathTo(target), ...call.path, project_id: caller.project_id };
      const { status } = await service.call(endpoint, { ...call, path, as: caller });
      if (status !== 404) found.push(`${row} ${status}`);
    }

    expect(rows.length).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  test('by tokens with a scope is defined as the table says, and there is none where it says nothing', () => {
    const defined: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const row of Object.keys(accessTable)) {
      const endpoint = endpoints.get(operationOf(row));
      if (endpoint === undefined || isPublic(endpoint) || endpoint.path.endsWith('+}')) continue;
      defined[row] = scopeRule(endpoint).right;
      expected[row] = scopeTable[row]?.[0] ?? 'none';
    }

    expect(defined).toEqual(expected);
    expect(Object.keys(accessTable)).toEqual(expect.arrayContaining(Object.keys(scopeTable)));
  });

  test.each(sampled(Object.entries(accessTable), 14))(
    'with a scope to %s',
    async (row, [pattern, success]) => {
      const endpoint = endpoints.get(operationOf(row));
      if (endpoint === undefined) throw new Error('there is no such operation');
      const usual = linesOf(pattern.replaceAll(/\bok\b/g, String(success)));
      const found: Record<string, string> = {};
      const expected: Record<string, string> = {};
      for (const [caller, names] of scoped) {
        const own = service.people[caller];
        const withoutScope = usual[callers.indexOf(caller)]?.match(/\d{3}/)?.[0] ?? '';
        // A refused request changes nothing, so the next one may be the same.
        let refused: Call | undefined;
        for (const [name, scope] of Object.entries(scopesOf(own, service.people['other developer']))) {
          if (!names.test(name)) continue;
          const mayAsk = isPublic(endpoint) || isInScope(row, scope, own);
          const kept = mayAsk ? undefined : refused;
          const call = kept ?? (await goodRequest(operations[row] ?? {}, caller));
          if (!mayAsk) refused = call;
          const environment = mayAsk ? { environment: granted } : {};
          const key = `${caller}, ${name}`;
          expected[key] = mayAsk ? withoutScope : '403';
          found[key] = await statusOfScoped(endpoint, { ...environment, ...call }, own, scope);
        }
      }

      expect(found).toEqual(expected);
    },
  );

  test.each(sampled(Object.entries(accessTable), 10))('to %s', async (row, [pattern, success]) => {
    const endpoint = endpoints.get(operationOf(row));
    if (endpoint === undefined) throw new Error('there is no such operation');
    const expected = linesOf(pattern.replaceAll(/\bok\b/g, String(success)));
    const answered: string[] = [];
    for (const [index, caller] of callers.entries()) {
      const allowed = (expected[index]?.match(/\d{3}/g) ?? []).map((status) => status === String(success));
      const statuses: string[] = [];
      for (const [column, isAllowed] of allowed.entries()) {
        const target = targets[column] ?? 'missing';
        // Who is refused as nobody is refused before the target is looked for.
        const isNobody = endpoint.allow !== 'anyone' && !isSignedIn(caller) && statuses[0] === '401';
        const ask = () => answerTo(endpoint, operations[row] ?? {}, caller, target, isAllowed);
        statuses.push(isNobody ? '401' : await ask());
      }
      answered.push([caller, ...statuses].join(' '));
    }
    expect(answered).toEqual(expected);
  });
});
