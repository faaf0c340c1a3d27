import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';
import { redirect } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { lambda } from '../../shared/http/pipeline/lambda.ts';

/**
 * The console beside this path, such as `/v1/mlflow`. A browser takes the part behind `#`, which names the run, along.
 */
export const consoleOf = (requestPath: string): string =>
  `${pathOfHost(pathOfHost(requestPath).replace(/mlflow$/, ''))}/console`;

export const endpoint = defineEndpoint({
  name: 'openMlflow',
  method: 'GET',
  path: '/mlflow',
  summary: "Where the links of MLflow's clients lead",
  description:
    'The address that MLflow’s clients print for a run, opened in a browser: it leads to the console, which shows the experiment.',
  allow: 'anyone',
  needs: {},
  throttle: { perSecond: 20, burst: 40 },
  input: {},
  output: { 302: redirect },

  async handle(_, { requestPath }) {
    const location = consoleOf(requestPath);
    return Reply.redirect({ GET: location, HEAD: location });
  },
});

export const handler = lambda(endpoint);
