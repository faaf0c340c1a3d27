import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';
import { ApiDocument } from './docs/api-document.ts';
import { docsPage } from './docs/docs-page.ts';
import { answerDocument, DocumentVersion, type FixedDocument, fixedDocument } from './fixed-document.ts';
import document from './openapi.json' with { type: 'json' };
import { openapiDocument } from './openapi-document.ts';

interface MadePage {
  document: FixedDocument;
  headers: Readonly<Record<string, string>>;
}

let made: MadePage | undefined;

/** The same for every request to this function, so it is made at the first one. */
function page(): MadePage {
  if (made !== undefined) return made;
  const { html, contentSecurityPolicy } = docsPage(ApiDocument.parse(document), openapiDocument().hash);
  made = {
    document: fixedDocument('text/html; charset=utf-8', html),
    headers: { 'Content-Security-Policy': contentSecurityPolicy },
  };
  return made;
}

export const endpoint = defineEndpoint({
  name: 'readDocs',
  method: 'GET',
  path: '/docs',
  summary: 'This reference',
  description: 'One page that loads nothing else.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 2, burst: 10 },
  input: { query: DocumentVersion },
  output: { 200: content(['text/html']) },
  etag: true,

  async handle({ query: { v } }) {
    const { document: whole, headers } = page();
    return answerDocument(whole, v, headers);
  },
});

export const handler = lambda(endpoint);
