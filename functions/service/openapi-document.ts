import { type FixedDocument, fixedDocument } from './fixed-document.ts';
import document from './openapi.json' with { type: 'json' };

/** Return the OpenAPI document without white space. The first request builds it. */
export function openapiDocument(): FixedDocument {
  made ??= fixedDocument('application/json', JSON.stringify(document));
  return made;
}

let made: FixedDocument | undefined;
