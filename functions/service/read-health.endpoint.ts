import * as z from 'zod';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';

export const endpoint = defineEndpoint({
  name: 'readHealth',
  method: 'GET',
  path: '/health',
  summary: 'Check that the service responds',
  description: 'A response shows that requests reach the service. It does not check databases or storage.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: z.object({ status: z.literal('ok'), service: z.literal('model-project-service') }) },

  async handle() {
    return { status: 'ok' as const, service: 'model-project-service' as const };
  },
});
