import { preferredMediaType } from '../../shared/http/body/accept.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { readDataFolder } from './data-folder-size.ts';
import { Start, startOf, startPage, startPolicy } from './start-page.ts';

export const endpoint = defineEndpoint({
  name: 'readStart',
  method: 'GET',
  path: '/',
  summary: 'Where to begin',
  description: 'Describes the service, with links: a page for browsers, JSON for other clients.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: content(['text/html'], Start) },

  async handle(_, { requestPath, header, settings }) {
    const start = startOf(
      requestPath,
      settings.pythonVersions,
      await readDataFolder(settings.dataSizeFile),
      settings.packageIndexes,
      settings.oidc !== undefined,
      settings.prices !== undefined,
    );
    const vary = { Vary: 'Accept' };
    if (preferredMediaType(header('Accept'), ['application/json', 'text/html']) === 'application/json') {
      return Reply.json(start, { headers: vary });
    }
    const headers = { ...vary, 'Content-Security-Policy': startPolicy };
    return Reply.content('text/html; charset=utf-8', startPage(start), { headers });
  },
});
