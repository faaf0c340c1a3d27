import { discover, discoveryUrl } from '../../../../shared/accounts/oidc/discovery.ts';
import { errorText } from '../../../../shared/core/error-text.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { type CheckResult, good, problem } from './check-result.ts';

const milliseconds = 10_000;

/**
 * Check that the issuer of the options answers as one: at its own address, without a redirect, under its own name. What
 * answers elsewhere could sign anybody in.
 */
export async function checkIssuer({
  oidcIssuer,
}: Pick<DeploymentOptions, 'oidcIssuer'>): Promise<CheckResult[]> {
  if (oidcIssuer === undefined) return [];
  try {
    await discover(oidcIssuer, (url) =>
      fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(milliseconds) }),
    );
    return [good(`people sign in at ${oidcIssuer}`)];
  } catch (error) {
    return [
      problem(`oidcIssuer ${oidcIssuer} is no issuer: ${errorText(error)} (${discoveryUrl(oidcIssuer)})`),
    ];
  }
}
