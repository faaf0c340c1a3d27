import * as z from 'zod';

const schema = z.object({
  /** Type of the event. */
  type: z.string(),
  /** Time of the event. */
  timestamp: z.string(),
  /** The data of the format `standard`: what the service answers about the event's subject. */
  data: z.record(z.string(), z.unknown()),
  /** For people. */
  text: z.object({
    title: z.string(),
    tone: z.enum(['good', 'bad', 'plain']),
    /** Why it ended so. Null if there is nothing to say. */
    reason: z.string().nullable(),
    facts: z.array(z.object({ name: z.string(), value: z.string() })),
    /** Page of the console. Null if its address is not known. */
    link: z.string().nullable(),
  }),
});

/** A message about an event, before it takes the form of a hook's format. */
export type HookMessage = z.infer<typeof schema>;

/** Return a message in its stored form. Leave out what is long if it would not fit into an item of the table. */
export function storedMessage(message: HookMessage): string {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const { params: _, tags: __, metrics: ___, note: ____, ...rest } = message.data;
  const short = { ...message, data: { ...rest, params: {}, tags: {}, metrics: {}, note: null } };
  return JSON.stringify(short);
}

/** Bytes of a stored message. An item holds 400 KB, and a transaction of 20 such items 4 MB. */
const maxBytes = 150_000;

export const parseMessage = (text: string): HookMessage => schema.parse(JSON.parse(text));

/** Why a message cannot be a mail, as the end of a sentence. */
export const noMail =
  'cannot be a mail here: only a deployment sends mails, whose option hookMail names the addresses';
