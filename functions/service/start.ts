import * as z from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import { pathOfHost } from '../../shared/http/definition/endpoint-context.ts';

const link = (description: string) => z.string().describe(description);

/** What the service is, and where it goes on. Links are paths from the root of the host. */
export const Start = z
  .object({
    service: z.literal('model-project-service'),
    version: z.string().describe('Of the service, and of the command mps that goes with it.'),
    console: link('The console, a page for people.'),
    docs: link('The reference, for people.'),
    openapi: link('The OpenAPI document, for generators of clients.'),
    health: link('Check that the service responds.'),
    token: link('POST here to sign in.'),
    account: link('The account of the caller.'),
    command: link('The command mps, for `npm install -g`.'),
  })
  .meta({ id: 'Start' });
export type Start = z.infer<typeof Start>;

/**
 * The links for a request to the root of the service. A deployment may be below a stage, and its root be asked for with
 * and without the slash at its end, so that relative links would lead astray.
 *
 * @param requestPath as the caller sees it, such as `/v1/`
 */
export function startOf(requestPath: string): Start {
  const base = `${pathOfHost(requestPath)}/`;
  return {
    service: 'model-project-service',
    version: packageFile.version,
    console: `${base}console`,
    docs: `${base}docs`,
    openapi: `${base}openapi.json`,
    health: `${base}health`,
    token: `${base}auth/token`,
    account: `${base}users/me`,
    command: `${base}cli/mps.tgz`,
  };
}
