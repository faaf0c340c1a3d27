import * as z from 'zod';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerDocument, DocumentVersion } from './fixed-document.ts';
import { openapiDocument } from './openapi-document.ts';

export const endpoint = defineEndpoint({
  name: 'readOpenapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This reference as an OpenAPI 3.1 document',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 2, burst: 10 },
  input: { query: DocumentVersion },
  output: { 200: z.looseObject({ openapi: z.string() }) },
  etag: true,

  async handle({ query: { v } }) {
    return answerDocument(openapiDocument(), v);
  },
});
