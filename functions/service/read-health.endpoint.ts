import * as z from 'zod';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';

export const endpoint = defineEndpoint({
  name: 'readHealth',
  method: 'GET',
  path: '/health',
  summary: 'Check that the service responds',
  description: 'Shows that requests reach the service. It does not check the services that it depends on.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 200: z.object({ status: z.literal('ok'), service: z.literal('model-project-service') }) },

  async handle() {
    return { status: 'ok' as const, service: 'model-project-service' as const };
  },
});

export const handler = lambda(endpoint);
