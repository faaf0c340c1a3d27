import { type FixedDocument, fixedDocument } from './fixed-document.ts';
import document from './openapi.json' with { type: 'json' };

/** The OpenAPI document without white space. Made at the first request for it. */
export function openapiDocument(): FixedDocument {
  made ??= fixedDocument('application/json', JSON.stringify(document));
  return made;
}

let made: FixedDocument | undefined;
