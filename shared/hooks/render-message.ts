import { Webhook } from 'standardwebhooks';
import type { Hook, HookSecrets } from '../data/hooks/hook.ts';
import type { HookMessage } from './message.ts';
import type { OutgoingMessage } from './post-webhook.ts';

/** Render a message in the format of a hook. The id is the same for every attempt. */
export function renderMessage(
  { format }: { format: PostedFormat },
  { url, secret }: HookSecrets,
  { id, message, now }: { id: string; message: HookMessage; now: Date },
): OutgoingMessage {
  const body = JSON.stringify(bodies[format](message));
  const headers = { 'Content-Type': 'application/json' };
  if (format !== 'standard' || secret === null) return { url, headers, body };
  return {
    url,
    body,
    headers: {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    },
  };
}

/** Formats that are posted to the URL of a hook. */
export type PostedFormat = Exclude<Hook['format'], 'mail'>;

/** Bodies by format. The limits are those that the services publish. */
const bodies = {
  standard: ({ type, timestamp, data }: HookMessage): object => ({ type, timestamp, data }),
  slack,
  discord,
  teams,
} satisfies Record<PostedFormat, (message: HookMessage) => object>;

/** An incoming webhook of Slack: a section holds 3,000 characters. */
function slack({ text: { title, tone, reason, facts, link } }: HookMessage): object {
  const named = slackText(title, 300);
  const name = link === null ? named : `<${link}|${named}>`;
  const lines = [
    `${signs[tone]} *${name}*`,
    ...(reason === null ? [] : [slackText(reason, 1000)]),
    ...facts.map((fact) => `*${slackText(fact.name, 40)}:* ${slackText(fact.value, 180)}`),
  ];
  return {
    text: `${signs[tone]} ${slackText([title, reason].filter(Boolean).join(': '), 1000)}`,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: lines.join('\n') } }],
  };
}

const slackText = (text: string, most: number): string => escapedText(text, most, slackEscaped);

/** Escape a text and truncate it to `most` characters after escaping. */
function escapedText(text: string, most: number, inFormat: (text: string) => string): string {
  let length = most;
  let escaped = inFormat(cut(text, length));
  while (escaped.length > most) {
    length -= Math.ceil((escaped.length - most) / 5);
    escaped = inFormat(cut(text, length));
  }
  return escaped;
}

/** Escape a text for Markdown, as Discord and Teams read it, and cut it. */
const markdownText = (text: string, most: number): string =>
  escapedText(text, most, (given) => given.replace(/[\\*_~`|[\]()<>#]/g, '\\$&'));

/** Slack takes three characters for its own marks, and `*`, `_`, `~` and backticks for styles. */
const slackEscaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, (mark) => `\u200b${mark}\u200b`);

const signs = { good: ':white_check_mark:', bad: ':x:', plain: ':information_source:' } as const;

/**
 * A webhook of Discord: a title has 256 characters, a description 4,096, the name of a field 256 and its value 1,024, all
 * embeds together 6,000. Names of users in it notify nobody.
 */
function discord({ timestamp, text: { title, tone, reason, facts, link } }: HookMessage): object {
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: markdownText(title, 256),
        ...(reason !== null && { description: markdownText(reason, 2000) }),
        ...(link !== null && { url: link }),
        color: colours[tone],
        timestamp,
        fields: facts.map(({ name, value }) => ({
          name: markdownText(name, 256),
          value: markdownText(value, 300),
          inline: true,
        })),
      },
    ],
  };
}

const colours = { good: 0x2e7d32, bad: 0xc62828, plain: 0x1565c0 } as const;

/** A workflow of Teams: an adaptive card in a message of at most 28 KB. */
function teams({ text: { title, tone, reason, facts, link } }: HookMessage): object {
  const style = { good: 'Good', bad: 'Attention', plain: 'Accent' } as const;
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            textBlock(markdownText(title, 256), { weight: 'Bolder', size: 'Medium', color: style[tone] }),
            ...(reason === null ? [] : [textBlock(markdownText(reason, 2000))]),
            ...(facts.length === 0
              ? []
              : [
                  {
                    type: 'FactSet',
                    facts: facts.map(({ name, value }) => ({
                      title: markdownText(name, 100),
                      value: markdownText(value, 300),
                    })),
                  },
                ]),
          ],
          ...(link !== null && {
            actions: [{ type: 'Action.OpenUrl', title: 'Open in the console', url: link }],
          }),
        },
      },
    ],
  };
}

const textBlock = (text: string, style: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...style });

/** Cut a text to a number of UTF-16 units, never within a character. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Render a message as a mail of SNS: the subject is one line of less than 100 characters. */
export function renderMail({ text: { title, reason, facts, link } }: HookMessage): {
  subject: string;
  text: string;
} {
  const paragraphs = [
    title,
    ...(reason === null ? [] : [reason]),
    facts.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    ...(link === null ? [] : [link]),
  ];
  return {
    subject: cut(title.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '), 99),
    text: paragraphs.map((paragraph) => cut(paragraph, 4000)).join('\n\n'),
  };
}
