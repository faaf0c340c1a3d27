import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailTopic } from '../../../shared/aws/signed/email-topic.ts';
import { hookedProject, type Receiver, startReceiver } from './hooked-project.ts';
import { startTopic } from './topic.ts';

let receiver: Receiver;
let topic: Awaited<ReturnType<typeof startTopic>>;

beforeAll(async () => {
  receiver = await startReceiver();
  topic = await startTopic();
});
afterAll(() => Promise.all([receiver.close(), topic.close()]));

const hooked = () => hookedProject(receiver, { MAIL_TOPIC: topic.arn });
const asMail = { url: undefined, format: 'mail' };
const sending = (environment = topic.environment) => ({
  mail: mailTopic(environment, topic.arn),
  admitted: [topic.host],
});

test('a mail says what ended, why and where to look, in a request that SNS takes', async () => {
  const { put, hooks, begin, end, deliver, deliveries } = await hooked();
  topic.mails.length = 0;
  const set = await put(asMail);
  const name = `größer ${'as ever '.repeat(14)}`;
  await end(await begin(name, [0.9, 0.2]), 'FAILED');
  await deliver(sending());
  const told = await deliveries();

  expect(set.status, set.text).toBe(200);
  expect(await hooks()).toMatchObject([{ format: 'mail', host: 'mps-hooks' }]);
  expect(told.map((one: { attempts: object[] }) => one.attempts)).toEqual([
    [expect.objectContaining({ status: 200, error: null })],
    [expect.objectContaining({ status: 200, error: null })],
  ]);
  expect(topic.mails[1]?.subject).toMatch(/^größer as ever .*…$/);
  expect(topic.mails[1]?.text).toMatch(/failed\n\nProject: digits\nval_loss: 0\.2 at step 1\n/);
});

test('a mail that SNS refuses says why, and is tried again', async () => {
  const { put, begin, deliver, deliveries, pass } = await hooked();
  topic.mails.length = 0;
  await put(asMail);
  await begin('refused');
  await deliver(sending({ ...topic.environment, AWS_SECRET_ACCESS_KEY: 'another' }));
  const [refused] = await deliveries();
  pass(60);
  await deliver(sending());

  expect(refused).toMatchObject({ status: 'pending', attempts: [{ status: 403 }] });
  expect(refused.attempts[0].error).toContain('signature we calculated does not match');
  expect(topic.mails.map(({ subject }) => subject)).toEqual(['refused started']);
});

test('a service without addresses refuses a hook that mails, and one whose addresses were taken away says so', async () => {
  const without = await hookedProject(receiver);
  const { put, begin, deliver, deliveries } = await hooked();
  const refused = await without.put({ format: 'mail' });
  await put(asMail);
  const late = await put({ url: undefined, format: 'slack' });
  await begin('lonely');
  await deliver();
  const [told] = await deliveries();

  expect(refused.status).toBe(400);
  expect(refused.json.errors.map(({ name }: { name: string }) => name)).toEqual(['format', 'url']);
  expect(refused.json.errors[0].message).toContain('only a deployment sends mails');
  expect(late.json.errors).toMatchObject([{ name: 'url' }]);
  expect(told.attempts[0].error).toContain('only a deployment sends mails');
});
