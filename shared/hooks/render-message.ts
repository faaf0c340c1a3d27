import { Webhook } from 'standardwebhooks';
import type { Hook, HookSecrets } from '../data/hooks/hook.ts';
import { discordMessage } from './formats/discord-message.ts';
import { slackMessage } from './formats/slack-message.ts';
import { teamsMessage } from './formats/teams-message.ts';
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
  slack: slackMessage,
  discord: discordMessage,
  teams: teamsMessage,
} satisfies Record<PostedFormat, (message: HookMessage) => object>;
