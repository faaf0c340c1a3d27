import { createHash } from 'node:crypto';

/** `"<version>-<hash>"`: `If-Match` compares the version, `If-None-Match` the whole. */
export function entityTag(version: number, body: string | Uint8Array): string {
  return `"${version}-${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
}

/** Whether an `If-None-Match` header names this tag, by the weak comparison that it asks for (RFC 9110, 13.1.2). */
export function noneMatchNames(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
