import { sendRaw } from '../../../support/raw-http.ts';
import type { Canaries } from './canaries.ts';
import type { Witness } from './witness.ts';

const json = { 'Content-Type': 'application/json' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Everything that is done with passwords and tokens, rightly and wrongly. Answers a developer's token. */
export async function tourAccounts(
  witness: Witness,
  canaries: Canaries,
  adminPassword: string,
): Promise<string> {
  const grant = (username: string, password: string) =>
    new URLSearchParams({ grant_type: 'password', username, password }).toString();
  const signIn = async (username: string, password: string) =>
    (await witness.send('POST', '/auth/token', { headers: form, body: grant(username, password) }, true))
      .token;
  const admin = await signIn('admin', adminPassword);
  if (admin === '') throw new Error('the admin could not sign in');
  const password = canaries.make('a password');
  const user = (value: unknown) => ({ token: admin, headers: json, body: JSON.stringify(value) });

  await witness.must('POST', '/users/', user({ username: 'ann', password, account_type: 'developer' }));
  const ann = await signIn('ann', password);
  const key = { 'Idempotency-Key': canaries.make('the key of a request') };
  const bob = { ...user({ username: 'bob', password, account_type: 'guest' }), headers: { ...json, ...key } };
  for (let time = 0; time < 2; time += 1) await witness.send('POST', '/users/', bob);

  // Refused, each for another reason.
  let refusals = 0;
  const refused = () => {
    refusals += 1;
    return canaries.make(`password ${refusals} of those that were refused`);
  };
  await signIn('ann', refused());
  await signIn('nobody', refused());
  await witness.send(
    'POST',
    '/users/',
    user({ username: 'ann', password: refused(), account_type: 'guest' }),
  );
  await witness.send(
    'POST',
    '/users/',
    user({ username: 'cid', password: [refused()], account_type: 'guest' }),
  );
  await witness.send('POST', '/users/', user({ username: 'cid', password: { text: refused() } }));
  await witness.send(
    'POST',
    '/users/',
    user({ username: 'cid', password: refused().repeat(20), account_type: 'x' }),
  );
  await witness.send('POST', '/users/', { token: admin, headers: json, body: `{"password": "${refused()}` });
  await witness.send('POST', '/users/', { token: admin, headers: json, body: `"${refused()}"` });
  await witness.send('POST', '/users/', {
    token: admin,
    headers: form,
    body: `password=${refused()}&password=${refused()}`,
  });
  await witness.send('POST', '/users/', {
    token: admin,
    query: { username: 'cid', account_type: 'guest', password: refused() },
  });
  await witness.send('POST', '/auth/token', { query: { password: refused() } });
  await witness.send('POST', '/auth/token', { headers: { 'Content-Type': 'text/plain' }, body: refused() });
  await witness.send('POST', '/auth/token', {
    headers: json,
    body: `{"grant_type":"x","username":"ann","password":"${refused()}"}`,
  });

  // Changed.
  const change = (token: string, value: unknown) =>
    witness.send('PUT', '/users/ann/password', { token, headers: json, body: JSON.stringify(value) });
  await change(ann, { password: refused(), current_password: refused() });
  await change(ann, { password: refused() });
  const next = canaries.make('a new password');
  await change(ann, { password: next, current_password: password });
  await witness.send('GET', '/users/me', { token: ann });
  const developer = await signIn('ann', next);

  // Tokens.
  const named = { token: developer, headers: json, body: '{"name":"script"}' };
  const script = await witness.send('POST', '/auth/tokens', named, true);
  await witness.send('GET', '/auth/tokens', { token: script.token });
  await witness.send('DELETE', '/auth/token', { token: script.token });
  await witness.send('GET', '/auth/tokens', { token: script.token });
  const wrong = () => canaries.make('a token that was refused');
  await witness.send('GET', '/users/me', { token: wrong() });
  await witness.send('GET', '/users/me', { token: `${developer.split('.')[0]}.${wrong()}` });
  await witness.send('GET', '/users/me', { headers: { Authorization: `Basic ${btoa(`ann:${wrong()}`)}` } });
  await witness.send('GET', '/users/me', { headers: { Authorization: wrong() } });
  await witness.send('GET', '/users/me', { headers: { Cookie: `session=${wrong()}`, 'X-Api-Key': wrong() } });
  await witness.send('GET', '/projects/', { token: developer, query: { access_token: wrong() } });
  await witness.send('GET', '/projects/', { token: developer, query: { cursor: wrong() } });
  const broken = `GET /users/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${wrong()}\r\nbad header\r\n\r\n`;
  witness.inspect('the answer to what is no HTTP', Buffer.from((await sendRaw(witness.url, broken)).body));
  return developer;
}
