import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Reply } from '../../shared/http/definition/reply.ts';

/** A document that does not change until the next deployment. */
export interface FixedDocument {
  mediaType: string;
  bytes: Uint8Array;
  /** Hash of the bytes. */
  hash: string;
}

export function fixedDocument(mediaType: string, text: string): FixedDocument {
  const bytes = Buffer.from(text);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { mediaType, bytes, hash };
}

/** Query that allows caches to keep a document forever. */
export const DocumentVersion = z.strictObject({
  v: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores and hyphens')
    .optional()
    .describe(
      'Hash of the document, as in the links of this service. A response under its hash may be cached forever.',
    ),
});

/** Return a document: cacheable forever under its hash, else revalidated each time by its ETag. */
export function answerDocument(
  { mediaType, bytes, hash }: FixedDocument,
  v: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): Reply<never> {
  const caching = v === hash ? 'public, max-age=31536000, immutable' : 'public, no-cache';
  return Reply.content(mediaType, bytes, { headers: { ...headers, 'Cache-Control': caching }, version: 1 });
}
