import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';
import { redirect } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

/**
 * Return the path of the console next to this path, which is for example `/v1/mlflow`. A browser keeps the
 * fragment after `#`, which names the run.
 */
export const consoleOf = (requestPath: string): string =>
  `${pathOfHost(pathOfHost(requestPath).replace(/mlflow$/, ''))}/console`;

export const endpoint = defineEndpoint({
  name: 'openMlflow',
  method: 'GET',
  path: '/mlflow',
  summary: 'Open a link that an MLflow client printed',
  description:
    'MLflow’s clients print this address for a run. In a browser it opens the experiment in the console.',
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
