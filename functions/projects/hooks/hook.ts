import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { type Delivery, DeliveryAttempt, DeliveryStatus } from '../../../shared/data/hooks/delivery.ts';
import { type Hook, HookEvent, HookFormat, type Hooks } from '../../../shared/data/hooks/hook.ts';
import { FilterText } from '../../../shared/experiments/filter-rule.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

/** Path parameters of every operation on one hook. */
export const hookPath = projectPath.extend({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'must start with a letter or digit and hold at most 64 letters, digits, dots, underscores and hyphens',
    )
    .describe('Name of the hook.'),
});

/** Path parameters of every operation on one delivery. */
export const deliveryPath = hookPath.extend({
  delivery_id: Ulid.describe('ID of the delivery: the `webhook-id` of its message.'),
});

/** Return the hook. @throws ServiceError `not-found` */
export function requireHook({ hooks }: Hooks, name: string): Hook {
  const found = hooks.find((hook) => hook.name === name);
  if (found === undefined) throw notFound('hook', name);
  return found;
}

/** A hook in a response. */
export const HookAnswer = z
  .object({
    name: z.string(),
    host: z.string().describe('Host of its URL, whose rest is a secret; for mails, the name of the topic.'),
    format: HookFormat,
    events: z.array(HookEvent),
    filter: z.string().nullable(),
    disabled: z.string().nullable().describe('Why it is no longer used; null while it is.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Hook' });

export const showHook = ({
  name,
  host,
  format,
  events,
  filter,
  disabled,
  created_at,
  updated_at,
}: Hook): z.input<typeof HookAnswer> => ({
  name,
  host,
  format,
  events,
  filter,
  disabled,
  created_at,
  updated_at,
});

/** A delivery in a response. */
export const DeliveryAnswer = z
  .object({
    delivery_id: Ulid,
    type: z.string().describe('Event of the message, or `hook.test`.'),
    subject: z.string().describe('Id of the experiment, or of what else the event is about.'),
    title: z.string().describe('First line of the message.'),
    status: DeliveryStatus.describe(
      '`dead` if the receiver took no attempt within 24 hours, or the hook was disabled.',
    ),
    tries: z.number().int(),
    attempts: z.array(DeliveryAttempt).describe('The latest attempts.'),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'Delivery' });

export const showDelivery = (
  { delivery_id, type, subject, status, tries, attempts, created_at, ended_at }: Delivery,
  title: string,
): z.input<typeof DeliveryAnswer> => ({
  delivery_id,
  type,
  subject,
  title,
  status,
  tries,
  attempts,
  created_at,
  ended_at,
});

const secretRule = 'must be whsec_ and 24 to 64 bytes in Base64';

/** Body that sets a hook. */
export const HookBody = z.strictObject({
  url: z
    .string()
    .max(2048, 'is longer than 2048 characters')
    .optional()
    .describe(
      'URL of the receiver, with https. Required for a new hook unless its format is `mail`; otherwise the hook keeps its URL.',
    ),
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, secretRule)
    .refine((text) => {
      const { length } = Buffer.from(text.slice(secretPrefix.length), 'base64');
      return length >= 24 && length <= 64;
    }, secretRule)
    .optional()
    .describe(
      'Secret that signs messages of the format `standard`. Without it the hook keeps its secret; a new hook gets one, which only this response tells.',
    ),
  format: HookFormat.default('standard').describe(
    '`standard` (the Standard Webhooks specification), what Slack, Discord and Teams take, or `mail` to the addresses that the deployment names (option `hookMail`), which needs no URL.',
  ),
  events: z
    .array(HookEvent)
    .min(1, 'must have at least one event')
    .max(50, 'has more than 50 events')
    .transform((events) => [...new Set(events)])
    .describe('Events to tell the receiver of.'),
  filter: FilterText.optional().describe(
    'Experiments to tell it of, as in a search, such as `metrics.loss < 0.5`. Other events are not filtered.',
  ),
});

export const secretPrefix = 'whsec_';
