import * as z from 'zod';
import { Timestamp } from '../../shared/core/formats.ts';
import { credentialMaxLength, findLinkOf, linkSession } from '../../shared/data/projects/link.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { requireProject, sharedThrottle } from './shared-link.ts';

export const endpoint = defineEndpoint({
  name: 'openLink',
  method: 'POST',
  path: '/links/session',
  summary: 'Exchange the secret of a link for a session that reads',
  description:
    'The session is valid for 12 hours at most, and ends with the link. `Authorization: Link <session>` reads `/links/shared` and what is below it, and nothing else of the service.',
  allow: 'anyone',
  repeatable: true,
  throttle: sharedThrottle,
  needs: { records: readRecords },
  input: {
    body: fields(
      z.strictObject({ secret: z.string().max(credentialMaxLength).describe('Secret of the link.') }),
    ),
  },
  output: { 200: z.object({ session: z.string(), expires_at: Timestamp }) },
  problems: ['not-found'],

  async handle({ body: { secret } }, { records, now }) {
    const at = now();
    const { link } = await requireProject(records, await findLinkOf(records, secret, at));
    const { session, until } = linkSession(link, at);
    const headers = { 'Cache-Control': 'no-store' };
    return Reply.json({ session, expires_at: until.toISOString() }, { headers });
  },
});
