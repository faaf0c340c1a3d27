import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { agentGuide } from './docs/agent-guide.ts';
import { answerDocument, type FixedDocument, fixedDocument } from './fixed-document.ts';

let guide: FixedDocument | undefined;

export const endpoint = defineEndpoint({
  name: 'readAgentGuide',
  method: 'GET',
  path: '/docs/agents.md',
  summary: 'This service for agents',
  description: 'Says in Markdown how an agent gets the tools of `mps mcp`, and what they do.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: content(['text/markdown']) },
  etag: true,

  async handle() {
    guide ??= fixedDocument('text/markdown; charset=utf-8', agentGuide);
    return answerDocument(guide, undefined);
  },
});
