import * as z from 'zod';

const endpoint = z.url().optional();

/** What the service uses of the metadata of an issuer (OpenID Connect Discovery 1.0). */
const Discovery = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  device_authorization_endpoint: endpoint,
  scopes_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
export type Discovery = z.infer<typeof Discovery>;

/** Return the address of the metadata of an issuer. */
export const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;

/**
 * Ask an issuer for its metadata.
 * @param fetch must follow no redirect: what answers elsewhere could sign anybody in
 * @throws Error if the issuer does not answer as one, or names another issuer
 */
export async function discover(
  issuer: string,
  fetch: (url: string) => Promise<Response>,
): Promise<Discovery> {
  const response = await fetch(discoveryUrl(issuer));
  const { status } = response;
  if (status >= 300 && status < 400) throw new Error('its discovery redirects');
  if (status !== 200) throw new Error(`its discovery answered ${status}`);
  const discovery = Discovery.parse(await response.json());
  if (discovery.issuer !== issuer) throw new Error(`its discovery names the issuer ${discovery.issuer}`);
  return discovery;
}
