import * as z from 'zod';
import { badRequest } from '../../shared/core/service-error.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { ApiDocument } from './docs/api-document.ts';
import { docsPage, docsPageNames } from './docs/docs-page.ts';
import { answerDocument, DocumentVersion, type FixedDocument, fixedDocument } from './fixed-document.ts';
import document from './openapi.json' with { type: 'json' };
import { openapiDocument } from './openapi-document.ts';

interface MadePage {
  document: FixedDocument;
  headers: Readonly<Record<string, string>>;
}

let api: ApiDocument | undefined;
const made = new Map<string | undefined, MadePage>();

/** Return a page. It is the same for every request, so the first request builds it. */
function readPage(name: string | undefined): MadePage {
  const known = made.get(name);
  if (known !== undefined) return known;
  api ??= ApiDocument.parse(document);
  const names = docsPageNames(api);
  if (name !== undefined && !names.includes(name)) {
    const message = `must be one of ${names.join(', ')}`;
    throw badRequest([{ in: 'query', name: 'page', message }]);
  }
  const { html, contentSecurityPolicy } = docsPage(api, openapiDocument().hash, name);
  const page = {
    document: fixedDocument('text/html; charset=utf-8', html),
    headers: { 'Content-Security-Policy': contentSecurityPolicy },
  };
  made.set(name, page);
  return page;
}

export const endpoint = defineEndpoint({
  name: 'readDocs',
  method: 'GET',
  path: '/docs',
  summary: 'This guide and reference',
  description:
    'The guide, or a page of the reference: one for each group of operations, and `errors`. A page loads no other resources.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {
    query: DocumentVersion.extend({
      page: z
        .string()
        .regex(/^[a-z-]{1,40}$/, 'must be the name of a page, such as projects')
        .optional()
        .describe('Name of a page of the reference, such as `projects`. Default: the guide.'),
    }),
  },
  output: { 200: content(['text/html']) },
  etag: true,

  async handle({ query: { v, page } }) {
    const { document: whole, headers } = readPage(page);
    return answerDocument(whole, v, headers);
  },
});
