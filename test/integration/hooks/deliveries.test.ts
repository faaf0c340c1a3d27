import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Write } from '../../../shared/data/table/table.ts';
import { hookedProject, type Receiver, startReceiver, status } from './hooked-project.ts';

let receiver: Receiver;
let hooked: Awaited<ReturnType<typeof hookedProject>>;

beforeEach(async () => {
  receiver = await startReceiver();
  hooked = await hookedProject(receiver);
});
afterEach(() => receiver.close());

const types = () => receiver.received.map(({ json }) => json.type);

test('a message is signed so that the libraries of Python and JavaScript take it', async () => {
  const { secret } = (await hooked.put({})).json;
  const experiment_id = await hooked.begin('digits-1', [0.5, 0.3, 0.1]);
  await hooked.end(experiment_id, 'FAILED');
  await hooked.deliver();

  const [started, failed] = receiver.received;
  expect(types()).toEqual(['experiment.started', 'experiment.failed']);
  expect(failed?.json.data).toMatchObject({ experiment_id, status: 'FAILED', name: 'digits-1' });
  expect(started?.headers['webhook-id']).not.toBe(failed?.headers['webhook-id']);
  for (const { body, headers, json } of receiver.received) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(json);
    expect(verifiedByPython(secret, body, headers)).toEqual(json);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
  }
});

function verifiedByPython(secret: string, body: string, headers: Record<string, string>): unknown {
  const wheel = join(import.meta.dirname, '../../fixtures/hooks/standardwebhooks-1.1.0-py3-none-any.whl');
  const program = `import json, sys
from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin)
print(json.dumps(Webhook(given["secret"]).verify(given["body"], given["headers"])))`;
  const input = JSON.stringify({ secret, body, headers });
  const env = { ...process.env, PYTHONPATH: wheel };
  return JSON.parse(execFileSync('python3', ['-c', program], { input, env }).toString());
}

test('a chat message says what ended, why, how good it was, and where to look', async () => {
  await hooked.put({ format: 'slack' });
  await hooked.end(await hooked.begin('first', [0.9, 0.5, 0.2]));
  const second = await hooked.begin('second', [0.9, 0.4, 0.1]);
  await hooked.end(second);
  await hooked.deliver();

  const texts = receiver.received.map(({ json }) => json.blocks[0].text.text);
  const [text] = texts.filter((one) => one.includes('second succeeded'));
  expect(text).toContain('*val\u200b_\u200bloss:* 0.1 at step 2, the best of the project (before: 0.2)');
  expect(text).toMatch(/\*Course:\* █.*▁/);
  expect(text).toContain('*Project:* digits');
});

test('a chat message of a run that a rule stopped shows the course of the metric that the rule judged', async () => {
  await hooked.put({ format: 'slack', events: ['experiment.stopped'] });
  const tooHigh = { above: { metric: 'gradient', value: 50 }, do: 'stop' };
  await hooked.begin('exploding', [1, 10, 100], 'gradient', [tooHigh]);
  await hooked.deliver();

  const texts = receiver.received.map(({ json }) => json.blocks[0].text.text);
  expect(texts.find((one) => one.includes('exploding was stopped'))).toMatch(/\*Course of gradient:\* ▁.*█/);
});

test('a chat message calls no value of a failed run or of training data the best of the project', async () => {
  await hooked.put({ format: 'slack' });
  await hooked.end(await hooked.begin('first', [0.9, 0.5, 0.2]));
  await hooked.end(await hooked.begin('broken', [0.1]), 'FAILED');
  await hooked.end(await hooked.begin('overfitted', [0.01], 'train_loss'));
  await hooked.deliver();

  const texts = receiver.received.map(({ json }) => json.blocks[0].text.text);
  const textOf = (title: string) => texts.find((one) => one.includes(title));
  expect(textOf('broken failed')).toContain('0.1 at step 0; the best of the project is 0.2 (first)');
  expect(textOf('overfitted succeeded')).toContain('0.01 at step 0; the best of the project is 0.2 (first)');
});

test('a filter and a choice of events decide what a hook hears of', async () => {
  await hooked.put({ events: ['experiment.succeeded'], filter: 'metrics.val_loss < 0.2' });
  for (const [name, value] of [
    ['good', 0.1],
    ['bad', 0.9],
  ] as const)
    await hooked.end(await hooked.begin(name, [value]));
  await hooked.deliver();

  expect(receiver.received.map(({ json }) => json.data.name)).toEqual(['good']);
});

test('a receiver that was away for an hour gets everything, per experiment in order, under the same ids', async () => {
  await hooked.put({});
  receiver.answer = status(503);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push(await hooked.begin(name));
  for (const id of ids) await hooked.end(id);
  for (let minute = 0; minute < 60; minute += 4) {
    await hooked.deliver();
    hooked.pass(240);
  }
  const tried = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  receiver.answer = status(200);
  receiver.received.length = 0;
  hooked.pass(3600);
  await hooked.deliver();
  await hooked.deliver();

  const got = Map.groupBy(receiver.received, ({ json }) => json.data.experiment_id);
  expect([...got.keys()].sort()).toEqual([...ids].sort());
  for (const messages of got.values())
    expect(messages.map(({ json }) => json.type)).toEqual(['experiment.started', 'experiment.succeeded']);
  const delivered = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(delivered).size).toBe(6);
  for (const id of tried) expect(delivered).toContain(id);
  expect((await hooked.deliveries()).map((one: { status: string }) => one.status)).toEqual(
    Array(6).fill('delivered'),
  );
});

test('a message that is refused holds up no other experiment', async () => {
  await hooked.put({});
  receiver.answer = (_, response) => {
    const isPoison = receiver.received.at(-1)?.json.data.name === 'poison';
    response.writeHead(isPoison ? 400 : 200).end('invalid_payload');
  };
  const poison = await hooked.begin('poison');
  const other = await hooked.begin('other');
  await hooked.end(poison);
  await hooked.end(other);
  await hooked.deliver();

  const rows = await hooked.deliveries();
  const of = (id: string) => rows.filter(({ subject }: { subject: string }) => subject === id);
  expect(of(other).map((one: { status: string }) => one.status)).toEqual(['delivered', 'delivered']);
  expect(of(poison).map((one: { tries: number }) => one.tries)).toEqual([0, 1]);
  expect(of(poison)[1].attempts[0]).toMatchObject({
    status: 400,
    error: 'The receiver answered 400: invalid_payload.',
  });
});

test('a message is dead after 24 hours, and can be sent once more', async () => {
  await hooked.put({});
  receiver.answer = status(500);
  await hooked.begin('lonely');
  for (let hour = 0; hour < 28; hour += 1) {
    await hooked.deliver();
    hooked.pass(3600);
  }
  const [dead] = await hooked.deliveries();
  receiver.answer = status(200);
  const again = await hooked.again(dead.delivery_id);

  expect(dead).toMatchObject({ status: 'dead', attempts: expect.any(Array) });
  expect(again.json).toMatchObject({ status: 'delivered', delivery_id: dead.delivery_id });
  expect(receiver.received.at(-1)?.headers['webhook-id']).toBe(dead.delivery_id);
  expect((await hooked.service.records.query({ pk: 'DELIVERY_LANES' })).items).toEqual([]);
});

test('a receiver that answers 410 is told nothing more until its hook is set again', async () => {
  await hooked.put({});
  receiver.answer = status(410);
  await hooked.begin('one');
  await hooked.deliver();
  await hooked.begin('two');
  await hooked.deliver();
  const [hook] = await hooked.hooks();
  const refused = await hooked.try();
  receiver.answer = status(200);
  await hooked.put({});
  const taken = await hooked.try();

  expect(hook.disabled).toContain('410 Gone');
  expect(refused.status).toBe(409);
  expect(taken.json).toMatchObject({ status: 'delivered', type: 'hook.test' });
  expect(receiver.received).toHaveLength(2);
});

test('a redirect is not followed, an endless answer is cut, and a garbled one counts by its status', async () => {
  const elsewhere = await startReceiver();
  await hooked.put({});
  const results: unknown[] = [];
  const answers = [
    status(302, { Location: elsewhere.url }),
    ((_, response) => {
      response.writeHead(200);
      const more = () => response.write('x'.repeat(65_536), () => response.destroyed || setImmediate(more));
      more();
    }) satisfies Receiver['answer'],
    ((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.socket?.destroy());
    }) satisfies Receiver['answer'],
    ((request) => request.socket.destroy()) satisfies Receiver['answer'],
  ];
  for (const answer of answers) {
    receiver.answer = answer;
    const { json } = await hooked.try();
    results.push([json.status, json.attempts[0].status]);
  }
  await elsewhere.close();

  expect(results).toEqual([
    ['pending', 302],
    ['delivered', 200],
    ['delivered', 200],
    ['pending', null],
  ]);
  expect(elsewhere.received).toEqual([]);
});

test('a worker that dies at any write loses nothing and makes no second id', async () => {
  await hooked.put({});
  const { records } = hooked.context;
  const ids: string[] = [];
  for (const name of ['a', 'b']) ids.push(await hooked.begin(name));
  for (const id of ids) await hooked.end(id);
  for (let point = 0; point < 14; point += 1) {
    let writes = 0;
    const dying = {
      ...records,
      // Dies before or after its write, by turns.
      async write(...all: readonly Write[]) {
        writes += 1;
        if (writes > point / 2) {
          if (point % 2 === 1) await records.write(...all);
          throw new Error('killed');
        }
        return records.write(...all);
      },
    };
    await hooked.deliver({ records: dying });
    hooked.pass(120);
  }
  await hooked.deliver();

  const got = Map.groupBy(receiver.received, ({ json }) => json.data.experiment_id);
  for (const id of ids) {
    const messages = got.get(id) ?? [];
    const first = [
      ...new Map(messages.map(({ headers, json }) => [headers['webhook-id'], json.type])).values(),
    ];
    expect(first).toEqual(['experiment.started', 'experiment.succeeded']);
  }
  expect(await hooked.deliveries()).toHaveLength(4);
});

test('two workers at once send each message once', async () => {
  await hooked.put({});
  for (let number = 0; number < 6; number += 1) await hooked.end(await hooked.begin(`run-${number}`));
  await Promise.all([hooked.deliver(), hooked.deliver(), hooked.deliver()]);
  await hooked.deliver();

  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(12);
  expect(new Set(ids).size).toBe(12);
});
