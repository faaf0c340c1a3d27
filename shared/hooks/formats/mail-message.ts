import type { HookMessage } from '../message.ts';
import { cutText } from './escaped-text.ts';

/** Render a message as a mail of SNS: the subject is one line of less than 100 characters. */
export function mailMessage({ text: { title, reason, facts, link } }: HookMessage): {
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
    subject: cutText(title.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '), 99),
    text: paragraphs.map((paragraph) => cutText(paragraph, 4000)).join('\n\n'),
  };
}
