import { setImmediate } from 'node:timers/promises';
import { jsonSchema } from '../definition/answer-schema.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';
import { applyMask } from '../fields-mask/fields-mask.ts';
import type { FieldsMask } from '../fields-mask/parse-mask.ts';

/** Rows that are written in one turn of the event loop: it takes some milliseconds. */
const rowsAtOnce = 250;

/**
 * JSON of an answer: just what the output schema declares, so that nothing of a record gets out by accident, and of
 * that what the mask asks for. A long list is written in slices, between which other requests are served.
 */
export async function renderJson(
  endpoint: Pick<AnyEndpoint, 'name' | 'output'>,
  value: unknown,
  mask?: FieldsMask,
): Promise<string> {
  const schema = jsonSchema(endpoint);
  const write = (part: unknown): string => {
    const shaped = schema.parse(part);
    return JSON.stringify(mask === undefined ? shaped : applyMask(mask, schema, shaped));
  };
  if (!Array.isArray(value) || schema.type !== 'array' || value.length <= rowsAtOnce) return write(value);
  const slices: string[] = [];
  for (let first = 0; first < value.length; first += rowsAtOnce) {
    slices.push(write(value.slice(first, first + rowsAtOnce)).slice(1, -1));
    await setImmediate();
  }
  return `[${slices.join(',')}]`;
}
