import { createHmac } from 'node:crypto';
import * as z from 'zod';
import type { Statement } from '../../service/role-statements.ts';

/** Credentials of a role with these statements, as STS issues them; valid as long as the emulators' own. */
export function sessionCredentials(own: Credentials, statements: readonly Statement[]): SessionCredentials {
  const sessionToken = Buffer.from(JSON.stringify(statements)).toString('base64url');
  return { accessKeyId: own.accessKeyId, secretAccessKey: sessionSecret(own, sessionToken), sessionToken };
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Credentials of a role session. */
export interface SessionCredentials extends Credentials {
  /** Holds the statements of the role. */
  sessionToken: string;
}

/** The secret of a session: who does not know the emulators' own can make none for a role of their choice. */
export const sessionSecret = ({ secretAccessKey }: Credentials, token: string): string =>
  createHmac('sha256', secretAccessKey).update(token).digest('base64url');

/** A role in which a request is made, if its signature is right. */
export interface Session {
  secretAccessKey: string;
  statements: readonly Statement[];
}

const maxKept = 1000;

/** Reads session tokens; each once. */
export class SessionReader {
  readonly #own: Credentials;
  readonly #known = new Map<string, Session>();

  constructor(own: Credentials) {
    this.#own = own;
  }

  /** Undefined for what is no token. It can be trusted only once a signature was verified with its secret. */
  read(token: string): Session | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const statements = parse(token);
    return statements && { secretAccessKey: sessionSecret(this.#own, token), statements };
  }

  /** Keeps a session whose signature was right. A service has a few dozen roles. */
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

function parse(token: string): Statement[] | undefined {
  try {
    return Statements.parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
