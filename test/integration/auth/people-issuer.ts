/// <reference path="../../support/oidc-provider.d.ts" />
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** Where the service of these tests is, as the provider knows it. */
export const serviceUrl = 'http://127.0.0.1:4321';

/** A certified provider on this machine, with a form in which everybody signs in by their name alone. */
export async function startPeopleIssuer() {
  const server = createServer((request, response) => {
    if (issuer.isAway) return void request.socket.destroy();
    void listener?.(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Groups and other claims of people, by their `sub`. */
    people: {} as Record<string, Record<string, unknown>>,
    isAway: false,
    signIn,
    confirm,
    close,
  };
  const provider = new Provider(issuer.url, {
    clients: [
      {
        client_id: 'mps',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        // A native client may have any port of this machine.
        redirect_uris: ['http://127.0.0.1/auth/oidc/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'email', 'groups'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
    pkce: { required: () => true },
    cookies: { keys: ['a key of the test'] },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...issuer.people[sub] }),
    }),
  });
  const listener = provider.callback();

  /** Sign somebody in as a browser does; return the address to which the provider sends it back. */
  function signIn(address: string, name: string): Promise<URL> {
    return answerForms(address, name, (url) => url.pathname === '/auth/oidc/callback');
  }

  /** Sign somebody in at any address as a browser does, and follow it to the end. */
  async function confirm(address: string, name: string): Promise<void> {
    await answerForms(address, name, () => false);
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return issuer;
}

/** Follow redirects and send the forms of pages, with cookies, until an address is reached or no form is left. */
async function answerForms(start: string, name: string, isEnd: (url: URL) => boolean): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let body: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      method: body === undefined ? 'GET' : 'POST',
      headers: { Cookie: [...cookies].map(([cookie, value]) => `${cookie}=${value}`).join('; ') },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(cookie, value);
    }
    const location = response.headers.get('location');
    body = undefined;
    if (location !== null) {
      url = new URL(location, url);
      if (isEnd(url)) return url;
      continue;
    }
    const page = await response.text();
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) return url;
    body = new URLSearchParams();
    for (const [input] of page.matchAll(/<input[^>]*>/g)) {
      const field = /name="([^"]+)"/.exec(input)?.[1];
      if (field !== undefined) body.set(field, /value="([^"]*)"/.exec(input)?.[1] ?? '');
    }
    if (body.has('login')) body.set('login', name);
    if (body.has('password')) body.set('password', 'any');
    if (/name="confirm"/.test(page)) body.set('confirm', 'yes');
    url = new URL(action, url);
  }
  throw new Error(`the provider asks for more and more: ${url}`);
}
