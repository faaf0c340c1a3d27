import { defineEndpoint } from '../../shared/http/definition.ts';
import { content } from '../../shared/http/endpoint-output.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { Reply } from '../../shared/http/reply.ts';
import { consoleFiles } from './console-files.ts';
import { consolePage, consolePolicy } from './console-page.ts';

export const endpoint = defineEndpoint({
  name: 'readConsole',
  method: 'GET',
  path: '/console',
  summary: 'The console, a page for people',
  description:
    'Projects, experiments, curves and models in a browser. It uses only the operations of this reference.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: content(['text/html']) },

  async handle(_, { requestPath, settings }) {
    const page = consolePage(await consoleFiles(), requestPath);
    const headers = { 'Content-Security-Policy': consolePolicy(settings.storageOrigin) };
    return Reply.content('text/html; charset=utf-8', page, { headers });
  },
});

export const handler = lambda(endpoint);
