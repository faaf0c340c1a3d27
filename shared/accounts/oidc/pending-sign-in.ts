import * as z from 'zod';
import { openSealed, seal, UnopenableError } from '../../core/encryption.ts';
import { Ulid } from '../../core/formats.ts';
import { tryParseJson } from '../../core/text/try-parse-json.ts';

/** Values that the service hands out and takes back, and that nobody else can read or make. */
interface Sealed<T> {
  seal(key: Uint8Array, value: T): string;
  /** Return the value. Undefined if it is not ours, or too old. */
  open(key: Uint8Array, text: string, now: Date): T | undefined;
}

function sealed<T extends { until: number }>(purpose: string, schema: z.ZodType<T>): Sealed<T> {
  return {
    seal: (key, value) => Buffer.from(seal(key, JSON.stringify(value), purpose)).toString('base64url'),
    open(key, text, now) {
      try {
        const value = tryParseJson(openSealed(key, Buffer.from(text, 'base64url'), purpose));
        const { data } = schema.safeParse(value);
        return data !== undefined && data.until > now.getTime() ? data : undefined;
      } catch (error) {
        if (error instanceof UnopenableError) return undefined;
        throw error;
      }
    },
  };
}

/** Seconds in which a sign-in must end. */
export const pendingSeconds = 10 * 60;

/** Epoch milliseconds after which a value counts no more. */
const until = z.number();
const account = { user_id: Ulid, credentials_version: z.number() };
/** SHA-256 of a secret that a program on the person's machine keeps. */
const challenge = z.string();

/** A sign-in that has begun in a browser, which keeps it in a cookie. */
export const pendingSignIn = sealed(
  'sign-in',
  z.object({
    state: z.string(),
    nonce: z.string(),
    verifier: z.string(),
    until,
    /** Account that is to be linked, of a person who is signed in already. */
    link: z.object(account).optional(),
    /** Program that has opened the browser, and listens at this port of the person's machine. */
    program: z.object({ port: z.number(), challenge }).optional(),
  }),
);
export type PendingSignIn = NonNullable<ReturnType<typeof pendingSignIn.open>>;

/** Seconds in which a program must exchange its code. */
export const codeSeconds = 60;

/** A code with which a program gets the token of a person who has signed in in a browser. */
export const programCode = sealed('program code', z.object({ ...account, challenge, token_id: Ulid, until }));
