import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { consoleFiles } from './console-files.ts';
import { consolePage, consolePolicy } from './console-page.ts';

export const endpoint = defineEndpoint({
  name: 'readConsole',
  method: 'GET',
  path: '/console',
  summary: 'Web page of the console',
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
