import { exportSPKI, generateKeyPair } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import { endpoint as exchangeToken } from '../../../functions/auth/oidc/exchange-token.endpoint.ts';
import { endpoint as createTrust } from '../../../functions/auth/trusts/create-trust.endpoint.ts';
import { endpoint as deleteTrust } from '../../../functions/auth/trusts/delete-trust.endpoint.ts';
import { endpoint as listTrusts } from '../../../functions/auth/trusts/list-trusts.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as searchExperiments } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as changeUserType } from '../../../functions/users/change-user-type.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { putTrust, removeTrust } from '../../../shared/data/accounts/ci-trust.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';
import { audience, exchange, pushClaims, startIssuer, trustOf } from './ci-issuer.ts';

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

let issuer: Issuer;
let service: TestService;
let ada: TestUser;
let project_id: string;
const prices = JSON.stringify({ fargate: { base: 60, vcpu: 0, gib: 0 }, nodes: [] });
beforeAll(async () => {
  issuer = await startIssuer();
  service = await testService({ ISSUER_HOSTS: issuer.host });
  ada = await service.user('developer');
  project_id = await newProject(service, ada);
});
beforeEach(() => {
  issuer.isAway = false;
});
afterAll(() => issuer.close());

const ids = { repository_id: '11', repository_owner_id: '22' };
const trustBody = (more: object = {}) => ({
  provider: 'github',
  name: 'octo/digits',
  issuer: issuer.url,
  claims: { ...ids, ref: 'refs/heads/main' },
  scope: { rights: 'run', projects: [project_id] },
  ...more,
});
const trust = (more: object = {}, as = ada) => service.call(createTrust, { ...json(trustBody(more)), as });
const present = (subject_token: string, more: object = {}) =>
  service.call(exchangeToken, json({ ...exchange, subject_token, ...more }));
const holder = ({ json: made }: { json: { access_token: string } }): TestUser => ({
  ...ada,
  token: made.access_token,
});
const record = (as: TestUser, path = { project_id }) =>
  service.call(createExperiment, { ...json({}), as, path });

describe('a run of CI', () => {
  beforeAll(async () => {
    expect((await trust()).status).toBe(201);
  });

  test('gets a token of an hour that trains in the project of its trust and in no other', async () => {
    const other = await newProject(service, ada);

    const answer = await present(await issuer.sign());
    const statuses = await Promise.all(
      [project_id, other].map((id) => record(holder(answer), { project_id: id })),
    );

    expect(answer.json).toMatchObject({
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 3600,
      user: 'ci:octo/digits',
    });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(statuses.map(({ status }) => status)).toEqual([200, 403]);
  });

  test('is named in its experiments, with commit and actor, and found by its name', async () => {
    const run = holder(await present(await issuer.sign()));

    const { json: made } = await record(run);
    const { experiment_id } = made;
    const { json: read } = await service.call(readExperiment, {
      as: ada,
      path: { project_id, experiment_id },
    });
    const found = await service.call(searchExperiments, {
      as: ada,
      query: { project_id, filter: "user = 'ci:octo/digits'" },
    });

    expect(read.user).toBe('ci:octo/digits');
    expect(read.ci).toEqual({
      name: 'octo/digits',
      actor: 'ada',
      commit: pushClaims['sha'],
      ref: 'refs/heads/main',
      run_id: '99',
    });
    expect(found.json.map((row: { experiment_id: string }) => row.experiment_id)).toContain(experiment_id);
  });

  test('is in the list of the tokens of the user who trusts it', async () => {
    const { json: made } = await present(await issuer.sign());

    const { json: listed } = await service.call(listTokens, { as: ada });

    expect(listed.find((one: { token_id: string }) => one.token_id === made.token_id)).toMatchObject({
      name: 'ci:octo/digits',
      scope: { rights: 'run', projects: [project_id] },
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['another audience', { aud: 'https://github.com/octo' }],
    ['an audience besides this service', { aud: [audience, 'https://other.example'] }],
    ['no audience', { aud: undefined }],
    ['the path of another deployment', { aud: `${audience}/v1` }],
    ['an end in the past', { exp: -90, iat: -400 }],
    ['no end', { exp: null }],
    ['a beginning in the future', { nbf: 120 }],
    ['an issue five minutes ahead of our clock', { iat: 300, exp: 600 }],
    ['an end five minutes behind our clock', { iat: -600, exp: -300 }],
    ['an issue of two hours ago', { iat: -7200 }],
    ['another repository of the same name', { repository_id: '12' }],
    ['another owner', { repository_owner_id: '23' }],
    ['another branch', { ref: 'refs/heads/feature' }],
    ['a pull request', { event_name: 'pull_request', ref: 'refs/heads/main' }],
    ['a pull request of a fork on the main branch', { event_name: 'pull_request_target' }],
    ['a comment of anybody', { event_name: 'issue_comment' }],
    ['no event', { event_name: undefined }],
    ['a list as the branch', { ref: ['refs/heads/main'] }],
  ])('is refused for %s', async (_, more) => {
    const answer = await present(await issuer.sign({ ...pushClaims, ...more }));

    expect(answer.status).toBe(401);
    expect(answer.json.detail).toBe('The token is none that this service exchanges.');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  test('is refused for the algorithm none, an HMAC with the public key, another key and an unknown one', async () => {
    const token = await issuer.sign();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const spki = new TextEncoder().encode(await exportSPKI(issuer.pair.publicKey));
    const stranger = await generateKeyPair('RS256');

    const tokens = [
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'none', kid: 'first' })}.${payload}.${signature}`,
      await issuer.sign(pushClaims, { header: { alg: 'HS256' }, key: spki }),
      await issuer.sign(pushClaims, { key: stranger.privateKey }),
      await issuer.sign(pushClaims, { header: { kid: 'unknown' }, key: stranger.privateKey }),
      `${header}.${payload}`,
      `${header}.${encode({ ...pushClaims, iss: issuer.url })}.${signature}`,
      `${header}.${encode([])}.${signature}`,
      'x',
      '..',
    ];
    const answers = await Promise.all(tokens.map((one) => present(one)));

    expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 401));
  });

  test('is refused for another issuer, from which nothing is fetched', async () => {
    const stranger = await startIssuer();
    const answers = [
      await present(await stranger.sign()),
      await present(await stranger.sign({ ...pushClaims, iss: issuer.url })),
      await present(await issuer.sign({ ...pushClaims, iss: stranger.url })),
    ];
    await stranger.close();

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(stranger.asked).toEqual([]);
  });

  test('exchanges its token once, whatever the order of requests', async () => {
    const token = await issuer.sign();
    const unnamed = await issuer.sign({ ...pushClaims, jti: undefined });

    const answers = await Promise.all([1, 2, 3].map(() => present(token)));
    const again = [await present(unnamed), await present(unnamed)];

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(again.map(({ status }) => status)).toEqual([200, 401]);
  });

  test.each([
    { grant_type: 'password' },
    { subject_token: '' },
    { subject_token: 'x'.repeat(20_000) },
    { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
    { trust_id: 'x' },
    { actor_token: 'x' },
  ])('is told what is wrong with %j', async (more) => {
    const { status } = await present('x', more);

    expect(status).toBe(400);
  });
});

describe('a trust', () => {
  test('that only reads admits pull requests, and records nothing', async () => {
    const grace = await service.user('developer');
    const repository = { repository_id: '31', repository_owner_id: '22' };
    await trust({ claims: repository, scope: { rights: 'read', projects: [project_id] } }, grace);

    const token = await issuer.sign({
      ...pushClaims,
      ...repository,
      event_name: 'pull_request',
      ref: 'refs/pull/7/merge',
    });
    const run = holder(await present(token));

    expect((await record(run)).status).toBe(403);
    expect((await service.call(readProject, { as: run, path: { project_id } })).status).toBe(200);
  });

  test('in GitLab admits runs on protected branches alone', async () => {
    const claims = { project_id: '77', ref_protected: true, ref: 'refs/heads/main' };
    await trust({ provider: 'gitlab', name: 'group/digits', claims });
    const run = {
      project_id: '77',
      project_path: 'group/digits',
      ref: 'main',
      ref_path: 'refs/heads/main',
      ref_protected: 'true',
      user_login: 'grace',
      sha: 'abc',
      pipeline_id: '5',
    };

    const answers = await Promise.all(
      [{}, { ref_protected: 'false' }, { ref_path: 'refs/heads/x' }, { project_id: '78' }].map(async (more) =>
        present(await issuer.sign({ ...run, ...more })),
      ),
    );
    const { json: made } = await record(holder(answers[0] as never));

    expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401]);
    expect(made.ci).toEqual({
      name: 'group/digits',
      actor: 'grace',
      commit: 'abc',
      ref: 'refs/heads/main',
      run_id: '5',
    });
  });

  test('is asked for by its id if several admit a run', async () => {
    const claims = { repository_id: '41', repository_owner_id: '22', ref: 'refs/heads/main' };
    const { json: first } = await trust({ claims });
    const { json: second } = await trust({ claims, scope: { rights: 'record', projects: [project_id] } });
    const token = await issuer.sign({ ...pushClaims, ...claims });

    const unclear = await present(token);
    const unknown = await present(token, { trust_id: newId() });
    const chosen = await present(token, { trust_id: second.trust_id });

    expect(unclear.status).toBe(400);
    expect(unclear.json.detail).toContain(first.trust_id);
    expect([unknown.status, chosen.status]).toEqual([401, 200]);
  });

  test('that is removed ends its tokens at once, and issues none', async () => {
    const claims = { repository_id: '51', repository_owner_id: '22', ref: 'refs/heads/main' };
    const { json: made } = await trust({ claims });
    const sign = () => issuer.sign({ ...pushClaims, ...claims });
    const run = holder(await present(await sign()));
    const { json: before } = await service.call(listTrusts, { as: ada });

    const removed = await service.call(deleteTrust, { as: ada, path: { trust_id: made.trust_id } });
    const again = await service.call(deleteTrust, { as: ada, path: { trust_id: made.trust_id } });
    const { json: after } = await service.call(listTrusts, { as: ada });

    expect([removed.status, again.status, (await record(run)).status]).toEqual([200, 404, 401]);
    expect((await present(await sign())).status).toBe(401);
    expect(before.length - after.length).toBe(1);
  });

  test('can be removed again after a kill between, so that no token of it stays', async () => {
    const claims = { repository_id: '52', repository_owner_id: '22', ref: 'refs/heads/main' };
    const { json: made } = await trust({ claims });
    const run = holder(await present(await issuer.sign({ ...pushClaims, ...claims })));
    let writes = 0;
    const dying: TestService['accounts'] = {
      ...service.accounts,
      async write(...all) {
        writes += 1;
        if (writes > 1) throw new Error('killed');
        await service.accounts.write(...all);
      },
    };
    await expect(removeTrust(dying, ada.user.user_id, made.trust_id)).rejects.toThrow('killed');
    const issued = await present(await issuer.sign({ ...pushClaims, ...claims }));

    const again = await service.call(deleteTrust, { as: ada, path: { trust_id: made.trust_id } });

    expect([issued.status, again.status, (await record(run)).status]).toEqual([401, 200, 401]);
  });

  test('is found by its id among any number of others in its repository', async () => {
    const mallory = await service.user('developer');
    const claims = { repository_id: '53', repository_owner_id: '22', ref: 'refs/heads/main' };
    const others = Array.from({ length: 101 }, () => trustOf(mallory.user, { issuer: issuer.url, claims }));
    await Promise.all(others.map((one) => putTrust(service.accounts, one)));
    const { json: made } = await trust({ claims });

    const answer = await present(await issuer.sign({ ...pushClaims, ...claims }), {
      trust_id: made.trust_id,
    });

    expect(answer.status).toBe(200);
  });

  test('ends with the credentials or the account of its user', async () => {
    const admin = await service.user('admin');
    const statuses: number[] = [];
    for (const [number, end] of [changeUserType, deleteUser].entries()) {
      const user = await service.user('developer');
      const own = await newProject(service, user);
      const claims = { repository_id: `6${number}`, repository_owner_id: '22', ref: 'refs/heads/main' };
      await trust({ claims, scope: { rights: 'run', projects: [own] } }, user);
      const sign = () => issuer.sign({ ...pushClaims, ...claims });
      statuses.push((await present(await sign())).status);
      const { user_id, username } = user.user;
      await service.call(end, {
        as: admin,
        ...(end === deleteUser
          ? { query: { username } }
          : { path: { user_id }, query: { account_type: 'viewer' } }),
      });
      statuses.push((await present(await sign())).status);
    }

    expect(statuses).toEqual([200, 401, 200, 401]);
  });

  test.each<[string, object]>([
    ['claims.repository_id', { claims: { repository_owner_id: '22', ref: 'refs/heads/main' } }],
    ['claims.repository_id', { claims: { ...{ repository_id: 'octo/digits', repository_owner_id: '22' } } }],
    ['claims.ref', { claims: ids }],
    ['claims.ref', { claims: { ...ids, ref: 'main' } }],
    ['claims.project_id', { claims: { ...ids, ref: 'refs/heads/main', project_id: '7' } }],
    ['claims.ref_protected', { provider: 'gitlab', claims: { project_id: '7', ref: 'refs/heads/main' } }],
    ['claims.sub', { claims: { ...ids, sub: 'repo:octo/digits:*' } }],
    ['issuer', { issuer: 'https://169.254.169.254' }],
    ['issuer', { issuer: 'http://127.0.0.1:1' }],
    ['issuer', { issuer: 'https://gitlab.com?x=1' }],
    ['provider', { provider: 'jenkins' }],
    ['scope', { scope: undefined }],
    ['scope.projects', { scope: { rights: 'run', projects: [newId()] } }],
    ['budget', { budget: 20 }],
  ])('is refused with what is wrong: %s in %j', async (name, more) => {
    const { status, json: problem } = await trust(more);

    expect(status).toBe(400);
    expect(problem.errors.map((fault: { name: string }) => fault.name)).toContainEqual(
      expect.stringContaining(name),
    );
  });

  test('has one budget for all tokens', async () => {
    const priced = { ...service.environment, PRICES: prices };
    const claims = { repository_id: '71', repository_owner_id: '22', ref: 'refs/heads/main' };
    const made = await service.call(createTrust, {
      ...json(trustBody({ claims, budget: 20 })),
      as: ada,
      environment: priced,
    });
    const tokens = await Promise.all(
      [1, 2].map(async () => present(await issuer.sign({ ...pushClaims, ...claims }))),
    );
    const { json: listed } = await service.call(listTokens, { as: ada });

    expect(made.json).toMatchObject({ budget: 20, charged: 0 });
    const ofTrust = listed.filter((one: { token_id: string }) =>
      tokens.some((token) => token.json.token_id === one.token_id),
    );
    expect(ofTrust.map((one: { budget: number }) => one.budget)).toEqual([20, 20]);
  });
});

describe('an issuer', () => {
  const claims = { repository_id: '81', repository_owner_id: '22', ref: 'refs/heads/main' };
  const sign = (one: Issuer, header = {}) => one.sign({ ...pushClaims, ...claims }, { header });

  /** A service in another process, as after a cold start. */
  const elsewhere = () => ({ ...service.environment });

  test('that is away is used by its known keys, also in a new process; unknown ones are 503', async () => {
    const other = await startIssuer();
    const hosts = { ISSUER_HOSTS: `${issuer.host},${other.host}` };
    const ask = async (environment: object, token: string) =>
      service.call(exchangeToken, {
        ...json({ ...exchange, subject_token: token }),
        environment: { ...elsewhere(), ...hosts, ...environment },
      });
    const environment = { ...elsewhere(), ...hosts };
    await service.call(createTrust, {
      ...json(trustBody({ claims, issuer: other.url })),
      as: ada,
      environment,
    });

    other.isAway = true;
    const unknown = await ask({}, await sign(other));
    other.isAway = false;
    const first = await ask({}, await sign(other));
    other.isAway = true;
    const known = await ask({}, await sign(other));
    const rotated = await ask({}, await sign(other, { kid: 'second' }));
    await other.close();

    expect([unknown.status, first.status, known.status]).toEqual([503, 200, 200]);
    expect(unknown.headers['retry-after']).toBe('30');
    expect([401, 503]).toContain(rotated.status);
  });

  test('that names another one, or keys on an internal address, is none', async () => {
    for (const discovery of [
      { issuer: 'https://other.example' },
      { jwks_uri: 'http://127.0.0.1:1/keys' },
      { jwks_uri: 'file:///etc/passwd' },
    ]) {
      const other = await startIssuer();
      other.discovery = discovery;
      const environment = { ...elsewhere(), ISSUER_HOSTS: other.host };
      await service.call(createTrust, {
        ...json(trustBody({ claims, issuer: other.url })),
        as: ada,
        environment,
      });

      const answer = await service.call(exchangeToken, {
        ...json({ ...exchange, subject_token: await sign(other) }),
        environment,
      });
      await other.close();

      expect(answer.status).toBe(503);
    }
  });

  /** An issuer that is trusted, and a function that presents tokens of it in one process. */
  async function trusted() {
    const other = await startIssuer();
    const environment = { ...elsewhere(), ISSUER_HOSTS: other.host };
    const made = await service.call(createTrust, {
      ...json(trustBody({ claims, issuer: other.url })),
      as: ada,
      environment,
    });
    const ask = (subject_token: string, to: object = environment) =>
      service.call(exchangeToken, { ...json({ ...exchange, subject_token }), environment: { ...to } });
    const stranger = await generateKeyPair('RS256');
    const forge = (header: object) =>
      other.sign({ ...pushClaims, ...claims }, { header, key: stranger.privateKey });
    return { other, environment, ask, forge, trust_id: made.json.trust_id };
  }

  test('is asked twice a minute at most, whatever strangers present', async () => {
    const { other, environment, forge } = await trusted();
    other.keys = [other.jwk, { ...other.jwk, kid: 'second' }];
    const headers = [{ kid: undefined }, { kid: 'unknown' }];
    for (let round = 0; round < 3; round += 1)
      for (const header of headers)
        await service.call(exchangeToken, {
          ...json({ ...exchange, subject_token: await forge(header) }),
          environment,
        });
    const present = other.asked.length;
    other.asked.length = 0;
    await other.close();

    expect(present).toBeLessThanOrEqual(2);
  });

  test('that is away is asked once by many requests, and not again at once', async () => {
    const { other, environment, forge } = await trusted();
    other.isAway = true;
    const token = await forge({});
    const request = () =>
      service.call(exchangeToken, { ...json({ ...exchange, subject_token: token }), environment });

    const together = await Promise.all([1, 2, 3, 4, 5].map(request));
    const later = await request();
    await other.close();

    expect([...together, later].map(({ status }) => status)).toEqual(Array(6).fill(503));
    expect(other.asked).toHaveLength(1);
  });

  test.each<[string, string, number]>([
    // A number of four bytes has 21 digits once it is written again.
    ['members besides keys', `,"x":[${Array(40_000).fill('1e20').join()}]`, 200],
    ['too many members', `,"x":"${'x'.repeat(300_000)}"`, 503],
  ])('with %s in its keys provokes no error of the service', async (_, moreKeys, expected) => {
    const { other, ask } = await trusted();
    other.moreKeys = moreKeys;

    const answer = await ask(await sign(other));
    await other.close();

    expect(answer.status).toBe(expected);
  });

  test.each([1e17, 1e300])('may name %d as the end of a token, which counts once', async (exp) => {
    const { other, ask } = await trusted();
    const token = await other.sign({ ...pushClaims, ...claims, exp });

    const answers = [await ask(token), await ask(token)];
    await other.close();

    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });

  test('that is no longer admitted is not asked', async () => {
    const asked = issuer.asked.length;
    await trust({ claims });

    const answer = await service.call(exchangeToken, {
      ...json({ ...exchange, subject_token: await sign(issuer) }),
      environment: {
        ...elsewhere(),
        ISSUER_HOSTS: '',
        ACCOUNTS_TABLE: service.environment['ACCOUNTS_TABLE'],
      },
    });

    // Its keys are known from before.
    expect([200, 503]).toContain(answer.status);
    expect(issuer.asked.length).toBe(asked);
  });
});
