import * as z from 'zod';
import { defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import document from './openapi.json' with { type: 'json' };

export const endpoint = defineEndpoint({
  name: 'readOpenapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This reference as an OpenAPI 3.1 document',
  allow: 'anyone',
  needs: {},
  input: {},
  output: { 200: z.looseObject({ openapi: z.string() }) },
  etag: true,

  async handle() {
    return Reply.json(document, { version: 1 });
  },
});

export const handler = lambda(endpoint);
