import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type MockInstance, test, vi } from 'vitest';
import { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as putEnvironment } from '../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as readEnvironment } from '../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as readProject } from '../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../functions/projects/projects/update-project.endpoint.ts';
import { loadOperations } from '../../infra/service/endpoints.ts';
import { createLogger } from '../../shared/core/log.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { fieldsOf, intoAll, intoOne } from '../support/injection/attack.ts';
import { corpus } from '../support/injection/corpus.ts';
import { sample, share } from '../support/injection/sample.ts';
import { furnishedProject, Surroundings } from '../support/injection/surroundings.ts';
import { together } from '../support/injection/together.ts';
import { everySample } from '../support/samples.ts';
import type { Answer, Call, TestUser } from '../support/service.ts';

const lanes = 12;
/** No more than wait for the thread that draws: what goes beyond is answered 503. */
const drawingLanes = 8;
/** Each field gets every so-manieth text, and each operation a share of all in all its fields: together they see all. */
const stride = (everySample ? 80 : 320) * share;
/** Into all fields of an operation goes every so-manieth text: with 64, the operations together still get all. */
const strideOfAll = Math.min(64, 8 * share);
/** Operations that hash a password for most of what they take get fewer. */
const hashing = new Set(['createToken', 'createUser', 'changePassword']);
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

const endpoints = (await loadOperations(join(import.meta.dirname, '../../functions'))).map(
  ({ endpoint }) => endpoint,
);

interface Attacker {
  endpoint: AnyEndpoint;
  as: TestUser;
  valid: Readonly<Record<string, string>>;
}

describe('hostile strings', () => {
  let around: Surroundings;
  let texts: readonly string[];
  let before: unknown;
  let calls = 0;
  let written: MockInstance<typeof process.stdout.write>;
  const logged: string[] = [];

  beforeAll(async () => {
    written = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      logged.push(String(chunk));
      return true;
    });
    around = await Surroundings.start({ LOG_LEVEL: 'debug' });
    texts = corpus(around.neighbour);
    before = await around.snapshot();
  });
  afterAll(async () => {
    written.mockRestore();
    await around.stop();
  });

  /** Calls, and expects what is to be expected of every answer. */
  async function attack(endpoint: AnyEndpoint, call: Call): Promise<Answer> {
    calls += 1;
    const answer = await around.service.call(endpoint, call);
    const said = () => `${endpoint.name} ${JSON.stringify(call).slice(0, 500)}: ${answer.text.slice(0, 500)}`;
    if (answer.status >= 500) throw new Error(said());
    for (const value of Object.values(answer.headers)) {
      if (!/^[\x20-\x7e]*$/.test(value)) throw new Error(`header ${JSON.stringify(value)} ${said()}`);
    }
    return answer;
  }

  async function attackers(): Promise<Attacker[]> {
    return Promise.all(
      endpoints.map(async (endpoint): Promise<Attacker> => {
        const as = await around.service.user(endpoint.allow === 'admin' ? 'admin' : 'developer');
        const project_id = await furnishedProject(around.service, as);
        const { user_id, username } = as.user;
        const account_type = 'developer';
        return { endpoint, as, valid: { user_id, username, project_id, account_type } };
      }),
    );
  }

  test('are more than 500 different ones', () => {
    expect(texts.length).toBeGreaterThan(500);
    expect(new Set(texts).size).toBe(texts.length);
  });

  test('in every field of every operation do no harm', async () => {
    const attempts: [AnyEndpoint, Call][] = [];
    const reached = new Set<string>();
    for (const [index, { endpoint, as, valid }] of (await attackers()).entries()) {
      const fewer = hashing.has(endpoint.name) ? 3 : 1;
      for (const [at, field] of fieldsOf(endpoint).entries()) {
        const ours = texts.filter((_, number) => (number + 7 * index + at) % (fewer * stride) === 0);
        for (const text of ours) {
          const sourceIp = `10.0.${attempts.length >> 8}.${attempts.length & 255}`;
          attempts.push([endpoint, { ...intoOne(endpoint, valid, field, text), as, sourceIp }]);
        }
      }
      for (const text of texts.filter((_, number) => (number + index) % strideOfAll === 0)) {
        attempts.push([endpoint, { ...intoAll(endpoint, text), as }]);
        reached.add(text);
      }
    }
    expect(reached.size).toBe(texts.length);
    await together(attempts, lanes, async ([endpoint, call]) => void (await attack(endpoint, call)));
    expect(await around.snapshot()).toEqual(before);
  });

  test('are projects’ texts as they are, or refused', async () => {
    const as = await around.service.user('developer');
    const path = { project_id: await furnishedProject(around.service, as) };
    let taken = 0;
    await together(sample(texts, 0), lanes, async (text) => {
      const query = {
        'project-name': text,
        'project-description': text,
        'project-type': 'a',
        'project-task': 'b',
      };
      const created = await attack(createProject, { query, as });
      if (created.status === 200) {
        taken += 1;
        const { project_id } = created.json;
        const read = await attack(readProject, { path: { project_id }, as });
        const expected = { project_name: text.toWellFormed(), project_description: text.toWellFormed() };
        expect([created.json, read.json]).toMatchObject([expected, expected]);
      } else expect(created.status).toBe(400);
      const body = JSON.stringify({ project_type: text, project_task: text });
      const headers = { 'Content-Type': 'application/json' };
      const changed = await attack(updateProject, { path, body, headers, as });
      if (changed.status === 200) {
        expect(changed.json).toMatchObject({ project_type: text, project_task: text });
      } else expect([400, 409, 413]).toContain(changed.status);
    });
    expect(taken).toBeGreaterThan(300 / share);
    expect(await around.snapshot()).toEqual(before);
  });

  test('are commands and dependencies as they are, or refused', async () => {
    const as = await around.service.user('developer');
    const projects = await Promise.all(
      Array.from({ length: lanes }, () => furnishedProject(around.service, as)),
    );
    let taken = 0;
    await together(sample(texts, 1), lanes, async (text, lane) => {
      const path = { project_id: projects[lane] ?? '' };
      for (const [entry_point_command, env_type, dependencies] of [
        [text, 'system', 'none'],
        ['true', 'python', text],
        ['true', 'docker', text],
      ] as const) {
        const query = { entry_point_command, env_type, dependencies };
        const put = await attack(putEnvironment, { path, query, as });
        if (put.status !== 200) {
          expect(put.status).toBe(400);
          continue;
        }
        taken += 1;
        const read = await attack(readEnvironment, { path, as });
        expect(read.json).toMatchObject({
          entry_point_command: entry_point_command.toWellFormed(),
          dependencies: dependencies.toWellFormed(),
        });
      }
    });
    expect(taken).toBeGreaterThan(100 / share);
    expect(await around.snapshot()).toEqual(before);
  });

  test('are contents of configurations as they are, or refused', async () => {
    const as = await around.service.user('developer');
    const projects = await Promise.all(
      Array.from({ length: drawingLanes }, () => furnishedProject(around.service, as)),
    );
    let taken = 0;
    await together(sample([...texts.entries()], 2), drawingLanes, async ([index, text], lane) => {
      const project_id = projects[lane] ?? '';
      const stages = { [text]: { cmd: text, deps: [text], outs: ['x'] }, b: { deps: ['x', text] } };
      const files = [
        ['a.json', JSON.stringify({ [text]: text, list: [{ [text]: [text] }] })],
        ['b.yaml', text],
        ['c.toml', `a = ${JSON.stringify(text)}\n`],
        ['stages.json', JSON.stringify({ stages })],
      ] as const;
      for (const [config_id, content] of files.filter((_, kind) => kind % 2 === index % 2)) {
        const path = { project_id, config_id };
        const put = await attack(putConfig, { path, body: content, as });
        if (put.status !== 200) {
          expect([400, 413]).toContain(put.status);
          continue;
        }
        taken += 1;
        const read = await attack(readConfig, { path, as });
        expect(read.json.content).toBe(content.toWellFormed());
        if (config_id.endsWith('.json')) expect(JSON.stringify(read.json.data)).toBe(content);
      }
      const Accept = ['image/svg+xml', 'text/vnd.mermaid', 'text/vnd.graphviz'][index % 3] ?? '';
      const drawn = await attack(readConfigGraph, {
        path: { project_id, config_id: index % 2 === 0 ? 'a.json' : 'stages.json' },
        headers: { Accept },
        as,
      });
      if (Accept === 'image/svg+xml') expect(drawn.text).not.toMatch(/<(script|img|foreignObject|!)/i);
    });
    expect(taken).toBeGreaterThan(500 / share);
    expect(await around.snapshot()).toEqual(before);
  });

  test('are keys of objects in the bucket as they are, or refused', async () => {
    let taken = 0;
    await together(sample(texts, 0), lanes, async (text) => {
      const key = `injected/${text}`;
      const bytes = Buffer.from(`at ${text}`);
      const stored = await around.objects.put(key, bytes, 'text/plain').then(
        () => true,
        (error) => {
          expect(error.$metadata?.httpStatusCode ?? 400).toBeLessThan(500);
          return false;
        },
      );
      if (!stored) return;
      taken += 1;
      const read = await around.objects.read(key);
      expect(Buffer.concat((await read?.toArray()) ?? []).toString()).toBe(bytes.toString());
    });
    expect(taken).toBeGreaterThan(300 / share);
    expect(await around.snapshot()).toEqual(before);
  });

  test('leave no control character in any line of the log', () => {
    const log = createLogger('debug', (line) => logged.push(line));
    for (const text of texts) log.error('probe', { text });
    const lines = logged.filter((line) => line.startsWith('{"timestamp"'));
    expect(lines.length).toBeGreaterThan(calls);
    for (const line of lines) {
      expect(line.endsWith('\n')).toBe(true);
      if (controls.test(line.slice(0, -1))) throw new Error(JSON.stringify(line));
      expect(() => JSON.parse(line)).not.toThrow();
    }
  });
});
