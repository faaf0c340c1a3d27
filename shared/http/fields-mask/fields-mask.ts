import { jsonSchema } from '../definition/answer-schema.ts';
import type { Exchange } from '../definition/exchange.ts';
import { maskOfFields } from '../definition/fields-parameter.ts';
import { headerOf } from '../pipeline/proxy-event.ts';
import { parseMask } from './parse-mask.ts';
import { requireConsistent } from './require-consistent.ts';

export { applyMask } from './apply-mask.ts';
export { parseMask } from './parse-mask.ts';

/**
 * Takes the mask from `fields` or from `X-Fields`, whichever the endpoint honours; blank means absent. Throws the 400 problems of a mask
 * that does not parse or does not fit the endpoint's answer, so that a request is refused before it changes anything.
 */
export const parseMaskOfRequest = (exchange: Exchange): void => {
  if (exchange.endpoint.fieldsParameter === true) {
    const fields = maskOfFields(exchange.input?.query);
    if (fields !== undefined) exchange.mask = fields;
  }
  if (exchange.endpoint.fieldsMask !== true) return;
  const text = headerOf(exchange.event, 'x-fields') ?? '';
  if (text.trim() === '') return;
  const mask = parseMask(text);
  requireConsistent(mask, jsonSchema(exchange.endpoint));
  exchange.mask = mask;
};
