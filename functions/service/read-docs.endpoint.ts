import { content, defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import { ApiDocument } from './docs/api-document.ts';
import { type DocsPage, docsPage } from './docs/page.ts';
import document from './openapi.json' with { type: 'json' };

let page: DocsPage | undefined;

export const endpoint = defineEndpoint({
  name: 'readDocs',
  method: 'GET',
  path: '/docs',
  summary: 'This reference',
  description: 'One page that loads nothing else.',
  allow: 'anyone',
  needs: {},
  input: {},
  output: { 200: content(['text/html']) },
  etag: true,

  async handle() {
    // The same for every request to this function, so it is made at the first one.
    page ??= docsPage(ApiDocument.parse(document));
    const { html, contentSecurityPolicy } = page;
    const headers = { 'Content-Security-Policy': contentSecurityPolicy };
    return Reply.content('text/html; charset=utf-8', html, { headers, version: 1 });
  },
});

export const handler = lambda(endpoint);
