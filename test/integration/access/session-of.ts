import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { beginSession } from '../../../shared/data/accounts/session.ts';
import { keepSession } from '../../../shared/http/pipeline/session-cookie.ts';
import type { TestService, TestUser } from '../../support/service.ts';

/** What a page of the service sends of this user. The cookie has another name on one machine than behind https. */
export async function sessionOf(
  service: TestService,
  { user }: TestUser,
  host?: string,
): Promise<Record<string, string>> {
  const use = { user_agent: 'a browser', address: '198.51.100.1' };
  const begun = await beginSession(service.accounts, user, { session_id: newId(), now: new Date(), use });
  const asked = {
    header: (name: string) => (name.toLowerCase() === 'host' ? host : undefined),
    settings: readSettings(service.environment),
  };
  return {
    Cookie: keepSession(asked, begun.cookie)['Set-Cookie'].split(';')[0] ?? '',
    Authorization: `Session ${begun.pageKey}`,
    'X-Requested-With': 'mps-console',
  };
}
