import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { courseText } from '../../../shared/hooks/describe-event.ts';
import { mailMessage } from '../../../shared/hooks/formats/mail-message.ts';
import { type HookMessage, parseMessage, storedMessage } from '../../../shared/hooks/message.ts';
import { renderMessage } from '../../../shared/hooks/render-message.ts';

const longText = `<!channel> *bold* & ${'🙂'.repeat(5000)}`;
const message: HookMessage = {
  type: 'experiment.failed',
  timestamp: '2026-11-25T12:00:00.000Z',
  data: { experiment_id: 'e', status: 'FAILED' },
  text: {
    title: longText,
    tone: 'bad',
    reason: longText,
    facts: [{ name: 'Project', value: 'digits' }, ...Array(5).fill({ name: 'Best', value: longText })],
    link: 'https://mps.example/v1/console#/projects/p/experiments/e',
  },
};
const now = new Date('2026-11-25T12:00:01.000Z');
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const render = (format: 'standard' | 'slack' | 'discord' | 'teams', one = message) =>
  renderMessage({ format }, { url: 'https://example.org/', secret }, { id: 'id-1', message: one, now });

// What the services publish of their formats: members, their types and their limits.

/** https://docs.slack.dev/reference/block-kit/blocks/section-block */
const Slack = z.strictObject({
  text: z.string().max(4000),
  blocks: z
    .array(
      z.strictObject({
        type: z.literal('section'),
        text: z.strictObject({ type: z.literal('mrkdwn'), text: z.string().min(1).max(3000) }),
      }),
    )
    .max(50),
});

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
const Discord = z.strictObject({
  allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
  embeds: z
    .array(
      z.strictObject({
        title: z.string().max(256),
        description: z.string().max(4096),
        url: z.url(),
        color: z.number().int().min(0).max(0xffffff),
        timestamp: z.iso.datetime(),
        fields: z
          .array(
            z.strictObject({ name: z.string().max(256), value: z.string().max(1024), inline: z.boolean() }),
          )
          .max(25),
      }),
    )
    .max(10)
    .refine((embeds) => JSON.stringify(embeds).length < 6000, 'exceeds 6,000 characters'),
});

/** https://adaptivecards.io/schemas/adaptive-card.json, in a message of a workflow */
const Teams = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
        type: z.literal('AdaptiveCard'),
        version: z.literal('1.4'),
        body: z.array(
          z.discriminatedUnion('type', [
            z.strictObject({
              type: z.literal('TextBlock'),
              text: z.string(),
              wrap: z.boolean(),
              weight: z.enum(['Default', 'Lighter', 'Bolder']).optional(),
              size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
              color: z
                .enum(['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'])
                .optional(),
            }),
            z.strictObject({
              type: z.literal('FactSet'),
              facts: z.array(z.strictObject({ title: z.string(), value: z.string() })).min(1),
            }),
          ]),
        ),
        actions: z.array(
          z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }),
        ),
      }),
    }),
  ]),
});

test.each([
  ['slack', Slack],
  ['discord', Discord],
  ['teams', Teams],
] as const)('a message of any length is one that %s takes', (format, schema) => {
  const { body, headers } = render(format);

  expect(schema.safeParse(JSON.parse(body)).error).toBeUndefined();
  expect(Buffer.byteLength(body)).toBeLessThan(28 * 1024);
  expect(headers).toEqual({ 'Content-Type': 'application/json' });
  expect(body.isWellFormed()).toBe(true);
});

test('a name cannot call people or format a message in Slack', () => {
  const { body } = render('slack');

  expect(body).not.toContain('<!channel>');
  expect(body).toContain('&lt;!channel&gt;');
});

test.each(['discord', 'teams'] as const)('a name is no link and no format in %s', (format) => {
  const text = { ...message.text, title: '[pay](https://evil.example) **now** `a_b`', reason: '<@1> ~~no~~' };

  const { body } = render(format, { ...message, text });

  const texts = body.replaceAll('\\\\', '\\');
  expect(texts).toContain('\\[pay\\]\\(https://evil.example\\) \\*\\*now\\*\\* \\`a\\_b\\`');
  expect(texts).toContain('\\<@1\\> \\~\\~no\\~\\~');
});

test('a message of the specification is signed, and carries the data alone', () => {
  const { body, headers } = render('standard');

  const { text: _, ...rest } = message;
  expect(JSON.parse(body)).toEqual(rest);
  expect(headers).toMatchObject({
    'webhook-id': 'id-1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('id-1', now, body),
  });
});

test('what does not fit into a record is left out, and the rest stays', () => {
  const params = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`p${index}`, 'x'.repeat(60)]),
  );
  const stored = storedMessage({ ...message, data: { ...message.data, params } });

  expect(Buffer.byteLength(stored)).toBeLessThan(150_000);
  expect(parseMessage(stored).data).toMatchObject({ experiment_id: 'e', params: {} });
});

test('the course of a metric is a line of at most 30 blocks', () => {
  expect(courseText([4, 3, 2, 1])).toBe('█▆▃▁');
  expect(courseText(Array.from({ length: 1000 }, (_, index) => index))).toHaveLength(30);
  expect([courseText([1]), courseText([1, Number.NaN]), courseText([2, 2])]).toEqual(['', '', '▁▁']);
});

test('a mail of any length is one that SNS takes', () => {
  const { subject, text } = mailMessage({
    ...message,
    text: { ...message.text, title: `first line\r\nsecond\u0007\u2028${longText}` },
  });

  expect(subject).toMatch(/^\P{C}{1,99}$/u);
  expect(subject).toMatch(/^first line second <!channel>/);
  expect(Buffer.byteLength(text)).toBeLessThan(262_144);
  expect(text).toContain('Project: digits\n');
  expect(text).toContain('\n\nhttps://mps.example/v1/console#/projects/p/experiments/e');
  expect(`${subject}${text}`.isWellFormed()).toBe(true);
});
