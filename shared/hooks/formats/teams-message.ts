import type { HookMessage } from '../message.ts';
import { markdownText } from './escaped-text.ts';

/** A workflow of Teams: an adaptive card in a message of at most 28 KB. */
export function teamsMessage({ text: { title, tone, reason, facts, link } }: HookMessage): object {
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
