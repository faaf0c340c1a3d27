import { bytesMediaType } from '../body/bytes-media-type.ts';
import type { JsonSchema } from './json-schema.ts';

/** Bytes of any kind. Without a schema of this format, generators make nothing of them. */
export const bytesSchema: JsonSchema = { type: 'string', format: 'binary' };

/** The content of a request or an answer that is bytes. */
export const bytesContent: JsonSchema = { [bytesMediaType]: { schema: bytesSchema } };
