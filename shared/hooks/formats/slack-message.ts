import type { HookMessage } from '../message.ts';
import { escapedText } from './escaped-text.ts';

/** An incoming webhook of Slack: a section holds 3,000 characters. */
export function slackMessage({ text: { title, tone, reason, facts, link } }: HookMessage): object {
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

/** Slack takes three characters for its own marks, and `*`, `_`, `~` and backticks for styles. */
const slackEscaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, (mark) => `\u200b${mark}\u200b`);

const signs = { good: ':white_check_mark:', bad: ':x:', plain: ':information_source:' } as const;
