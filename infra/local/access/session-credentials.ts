import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import type { Statement } from '../../service/iam-statements.ts';

/**
 * Return credentials of a role with these statements, as STS issues them. They are valid as long as the emulators'
 * own credentials.
 */
export function sessionCredentials(
  credentials: Credentials,
  statements: readonly Statement[],
): SessionCredentials {
  const sessionToken = Buffer.from(JSON.stringify(statements)).toString('base64url');
  return {
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: sessionSecret(credentials, sessionToken),
    sessionToken,
  };
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SessionCredentials extends Credentials {
  /** Contains the statements of the role. */
  sessionToken: string;
}

/**
 * Derive the secret of a session from the emulators' own secret. Without that secret, nobody can make a session
 * for a role of their choice.
 */
export const sessionSecret = ({ secretAccessKey }: Credentials, token: string): string =>
  createHmac('sha256', secretAccessKey).update(token).digest('base64url');

/** The role of a request, if its signature is valid. */
export interface Session {
  secretAccessKey: string;
  statements: readonly Statement[];
}

const maxKept = 1000;

/** Read session tokens, and cache them. */
export class SessionReader {
  readonly #own: Credentials;
  readonly #known = new Map<string, Session>();

  constructor(credentials: Credentials) {
    this.#own = credentials;
  }

  /**
   * Return undefined for an invalid token. Trust the session only after a signature was verified with its secret.
   */
  read(token: string): Session | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const statements = Statements.safeParse(tryParseJson(Buffer.from(token, 'base64url').toString())).data;
    return statements && { secretAccessKey: sessionSecret(this.#own, token), statements };
  }

  /** Cache a session after its signature was verified. A service has a few dozen roles. */
  keep(token: string, session: Session): void {
    if (this.#known.size >= maxKept) this.#known.clear();
    this.#known.set(token, session);
  }
}

const Conditions = z.record(z.string(), z.record(z.string(), z.union([z.string(), z.array(z.string())])));

const Statements = z.array(
  z.object({
    actions: z.array(z.string()),
    resources: z.array(z.string()),
    conditions: Conditions.exactOptional(),
  }),
);
