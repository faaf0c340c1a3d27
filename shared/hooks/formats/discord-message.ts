import type { HookMessage } from '../message.ts';
import { markdownText } from './escaped-text.ts';

/**
 * A webhook of Discord: a title has 256 characters, a description 4,096, the name of a field 256 and its value 1,024, all
 * embeds together 6,000. Names of users in it notify nobody.
 */
export function discordMessage({
  timestamp,
  text: { title, tone, reason, facts, link },
}: HookMessage): object {
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
