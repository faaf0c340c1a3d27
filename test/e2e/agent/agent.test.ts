import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openAgent } from '../../../cli/mcp/agent.ts';
import { type AgentClient, agentContext, connectAgent, withCalls } from '../../support/agent-client.ts';
import { mpsLauncher, startMps } from '../../support/mps.ts';
import { everySample, sampled } from '../../support/samples.ts';
import { type AgentService, agentService, password } from './agent-service.ts';
import { hostileSequence } from './hostile-sequence.ts';
import { type Known, tasks } from './tasks.ts';

let service: AgentService;
beforeAll(async () => {
  service = await agentService();
});
afterAll(() => service.end());

const command = 'sh train.sh --score 0.5';
let keys = 0;
const key = () => `key-of-test-${keys++}`;

async function ended(agent: AgentClient, kind: string, id: string) {
  for (let tries = 0; tries < 20; tries += 1) {
    const { data, text } = await agent.call('wait', { kind, id });
    if (data === undefined) throw new Error(text);
    if (data.has_ended) return data;
  }
  throw new Error(`${kind} ${id} does not end`);
}

test('an agent beats a metric within a budget, compresses the best to 12 MB and says what it cost', async () => {
  const agent = await service.agent(1);

  const sweep = await agent.call('sweep', {
    ...{ max_usd: 0.5, idempotency_key: key(), command, timeout: 120, metric: 'accuracy', goal: 'maximize' },
    ...{ set: ['--score=0.91,0.98,0.95'], method: 'grid', parallel: 2 },
  });
  const swept = await ended(agent, 'sweep', sweep.data.sweep);
  const { data: found } = await agent.call('find_runs', { sort: '-accuracy', limit: 1 });
  const { run } = found.runs[0];
  const beaten = await agent.call('gate', { run, metric: 'accuracy', at_least: 0.97 });
  const compress = await agent.call('compress', {
    ...{ max_usd: 0.3, idempotency_key: key(), run, strategy: 'weight_only', options: { precision: 8 } },
    timeout: 600,
  });
  expect(compress.text).toContain('SUBMITTED');
  const compressed = await ended(agent, 'compression', compress.data?.compression);
  const small = await agent.call('gate', {
    compression: compress.data.compression,
    max_mb: 12,
  });
  const { data: left } = await agent.call('budget');

  expect(swept.best.value).toBe(0.98);
  expect(beaten.data.passes).toBe(true);
  expect(compressed).toMatchObject({ status: 'SUCCEEDED', bytes: { before: expect.any(Number) } });
  expect(compressed.mb).toBeLessThan(12);
  expect(small.data).toMatchObject({ passes: true });
  expect(left.token.charged).toBeGreaterThan(0);
  expect(left.token.charged).toBeLessThanOrEqual(0.8);
  await agent.close();
});

test.runIf(everySample)(
  'from the start of the service to the first sweep, an agent needs two more commands',
  async () => {
    const { home, folder, url } = service;
    const file = join(home, 'agent.token');
    const signedIn = startMps(['login', url, '--user', 'admin'], { folder, home, input: `${password}\n` });
    expect(await signedIn.ended).toMatchObject({ code: 0 });

    const refused = await startMps(['mcp'], { folder, home }).ended;
    const create = [
      'tokens',
      'create',
      'agent',
      '--rights',
      'run',
      '--budget',
      '1',
      '--expires',
      '8h',
      '--to',
      file,
    ];
    const created = await startMps(create, { folder, home }).ended;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [mpsLauncher, 'mcp', '--token', file],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, MPS_CHECKOUT: home },
      stderr: 'ignore',
    });
    const agent = await withCalls(transport);
    const set = ['--score=0.1,0.2'];
    const more = { idempotency_key: key(), command, set, method: 'grid', metric: 'accuracy', timeout: 60 };
    const sweep = await agent.call('sweep', { max_usd: 0.5, ...more });
    const { tools } = await agent.client.listTools();
    await agent.close();

    expect([refused.code, created.code]).toEqual([4, 0]);
    expect(refused.stderr).toContain('mps tokens create agent ');
    expect(sweep.data).toMatchObject({ status: 'RUNNING', trials: 2, max_usd: 0.5 });
    expect(tools.map(({ name }) => name).filter((name) => /delete|remove|fetch|rm/.test(name))).toEqual([]);
  },
);

describe('mps mcp refuses', () => {
  test('a token without a scope, and one to run without a budget, with the command that makes one', async () => {
    const { folder, home, url } = service;
    const opened = async (token: string) => openAgent(agentContext({ folder, home, url, token }));

    await expect(opened(await service.token({}))).rejects.toThrow(
      /all your rights.*\n {2}mps tokens create agent/,
    );
    await expect(opened(await service.token({ scope: { rights: 'run' } }))).rejects.toThrow(
      /no budget.*\n {2}mps tokens create agent .*--budget 20/,
    );
  });

  test('a folder with the tokens of the user', async () => {
    const { home, url } = service;
    const token = await service.token({ scope: { rights: 'run' }, budget: 1 });

    await expect(openAgent(agentContext({ folder: home, home, url, token }))).rejects.toThrow(
      /every training would get the tokens/,
    );
  });

  test('a resource that is none, in plain words', async () => {
    const agent = await connectAgent(await service.place({ rights: 'read' }));

    const read = agent.client.readResource({ uri: 'mps://\u001b[2J\u202eruns' });

    await expect(read).rejects.toThrow('There is no resource mps://runs. ');
    await agent.close();
  });

  test('what begins something, with a token that only reads', async () => {
    const agent = await connectAgent(await service.place({ rights: 'read' }));

    const { tools } = await agent.client.listTools();
    const run = await agent.call('run', { max_usd: 1, idempotency_key: key() });

    expect(tools.map(({ name }) => name)).not.toContain('run');
    expect(run).toMatchObject({ isError: true, text: expect.stringContaining('needs run') });
    await agent.close();
  });
});

test('a call whose answer is lost begins nothing again when it is repeated, by another process too', async () => {
  const place = await service.place({ rights: 'run' }, 1);
  const input = { max_usd: 0.1, idempotency_key: key(), command, timeout: 60, name: 'once only' };
  const send = globalThis.fetch;
  const lost = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...asked) => {
    const response = await send(...asked);
    if (!String(asked[0]).includes('/train?')) return response;
    throw new TypeError('fetch failed');
  });
  const first = await connectAgent(place);

  const none = await first.call('run', input);
  lost.mockRestore();
  const second = await connectAgent(place);
  const [one, other] = [await second.call('run', input), await second.call('run', input)];
  const changed = await second.call('run', { ...input, max_usd: 0.2 });
  const { data } = await second.call('find_runs', { filter: "name = 'once only'" });

  expect(none.isError).toBe(true);
  expect(other.text).toBe(one.text);
  expect(data.runs.map(({ run }: { run: string }) => run)).toEqual([one.data.run]);
  expect(changed).toMatchObject({ isError: true, text: expect.stringContaining('another input') });
  await Promise.all([first.close(), second.close()]);
});

describe('an agent', () => {
  let agent: AgentClient;
  let known: Known;
  beforeAll(async () => {
    agent = await service.agent(5);
    const run = (score: string) =>
      agent.call('run', {
        max_usd: 0.1,
        idempotency_key: key(),
        timeout: 60,
        command: `sh train.sh --score ${score}`,
      });
    const [good, bad] = [await run('0.9'), await run('none')];
    const ids = { good: good.data.run, bad: bad.data.run };
    for (const id of Object.values(ids)) await ended(agent, 'run', id);
    known = { ...ids, project: good.data.project };
  });
  afterAll(() => agent.close());

  test.each(sampled(tasks, 6))('$task', async ({ tool, input, told }) => {
    const answer = await agent.call(tool, { ...(typeof input === 'function' ? input(known) : input) });

    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4096);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may come through
    expect(answer.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    if (typeof told === 'string')
      expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(told) });
    else expect(answer.data).toMatchObject(told(known));
  });
});

const tokens = everySample ? 20 : 1;

test('hostile calls cost nothing above the budget of the token', { timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= tokens; seed += 1) {
    const budget = 0.01;
    const agent = await service.agent(budget);
    for (let sequence = 0; sequence < (everySample ? 50 : 3); sequence += 1)
      for (const calls of hostileSequence(seed * 1000 + sequence))
        await Promise.all(calls.map(({ tool, input }) => agent.call(tool, input)));
    const { data } = await agent.call('budget');

    expect(data.token.charged).toBeLessThanOrEqual(budget);
    expect(data.token.left).toBeGreaterThanOrEqual(0);
    await agent.close();
  }
});
