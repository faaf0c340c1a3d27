import { createHash } from 'node:crypto';

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

const isSecret = (name: string): boolean => /password/i.test(name);

/** The value in a form whose JSON is the same whatever the order of fields was, and holds no password. */
function canonical(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: sha256(value) };
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(([name, member]) => member !== undefined && !isSecret(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)]);
  return { members };
}

/**
 * SHA-256 over an operation and its parsed input, in hexadecimal: the same for two requests that ask for the same,
 * however they were written. Fields whose names hold `password` are left out.
 */
export const requestFingerprint = (operation: { method: string; path: string }, input: unknown): string =>
  sha256(JSON.stringify([operation.method, operation.path, canonical(input)]));
