import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { hashing } from './hashing-queue.ts';

/** Parameters of a hash. OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
interface Cost {
  /** KiB. */
  memory: number;
  passes: number;
  parallelism: number;
}

const presentCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

interface StoredHash {
  cost: Cost;
  salt: Buffer;
  tag: Buffer;
}

const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/;

/** Encode without padding, as in PHC strings. */
const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function format({ cost: { memory, passes, parallelism }, salt, tag }: StoredHash): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

function parse(hash: string): StoredHash | undefined {
  const [, memory, passes, parallelism, salt, tag] = phc.exec(hash) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

const derive: (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer> = promisify(argon2);

function deriveTag(password: string, { memory, passes, parallelism }: Cost, salt: Buffer, tagLength: number) {
  const message = Buffer.from(password, 'utf8');
  return hashing.run(() =>
    derive('argon2id', { message, nonce: salt, memory, passes, parallelism, tagLength }),
  );
}

/** Hash a password for storage, as a PHC string. The password is neither trimmed nor normalized. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return format({ cost: presentCost, salt, tag: await deriveTag(password, presentCost, salt, tagBytes) });
}

/** Hash that no password has. Checking it takes as long as checking a real one. */
const nobodys: StoredHash = { cost: presentCost, salt: Buffer.alloc(saltBytes), tag: Buffer.alloc(tagBytes) };

/**
 * Return whether the password matches the stored hash. Without a hash (no such user), or with an invalid one,
 * return false after the same work, so the time does not reveal which users exist.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const stored = hash === undefined ? undefined : parse(hash);
  const { cost, salt, tag } = stored ?? nobodys;
  const equal = timingSafeEqual(await deriveTag(password, cost, salt, tag.length), tag);
  return equal && stored !== undefined;
}

/** Return whether a hash has another cost than new hashes. The next sign-in should then replace it. */
export function needsRehash(hash: string): boolean {
  const stored = parse(hash);
  if (stored === undefined || stored.salt.length !== saltBytes || stored.tag.length !== tagBytes) return true;
  const { memory, passes, parallelism } = stored.cost;
  return (
    memory !== presentCost.memory || passes !== presentCost.passes || parallelism !== presentCost.parallelism
  );
}
