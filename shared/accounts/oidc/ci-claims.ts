import type { CiProvider } from '../../data/accounts/ci-providers.ts';
import type { CiRun } from '../../data/accounts/ci-run.ts';
import { type CiTrust, claimText, identifyingClaims } from '../../data/accounts/ci-trust.ts';
import type { TokenRight } from '../../data/accounts/token-scope.ts';

/** What a trust may name of a run. */
export interface NamedClaims {
  repository_id?: string | undefined;
  repository_owner_id?: string | undefined;
  project_id?: string | undefined;
  ref?: string | undefined;
  environment?: string | undefined;
  ref_protected?: boolean | undefined;
}

const taken: Readonly<Record<CiProvider, readonly (keyof NamedClaims)[]>> = {
  github: [...identifyingClaims.github, 'ref', 'environment'],
  gitlab: [...identifyingClaims.gitlab, 'ref', 'environment', 'ref_protected'],
};

/** Return what is wrong with the claims of a new trust, by their names. */
export function claimFaults(
  provider: CiProvider,
  claims: NamedClaims,
  rights: TokenRight,
): { name: string; message: string }[] {
  const faults: { name: string; message: string }[] = identifyingClaims[provider]
    .filter((name) => claims[name] === undefined)
    .map((name) => ({ name, message: `is required for ${provider}` }));
  for (const [name, value] of Object.entries(claims))
    if (value !== undefined && !taken[provider].includes(name as keyof NamedClaims))
      faults.push({ name, message: `is no claim of ${provider}; allowed are ${taken[provider].join(', ')}` });
  if (rights === 'read') return faults;
  if (provider === 'gitlab' && claims.ref_protected !== true)
    faults.push({
      name: 'ref_protected',
      message: 'must be true, unless the right is read: anybody with write access may push to other branches',
    });
  if (provider === 'github' && claims.ref === undefined && claims.environment === undefined)
    faults.push({
      name: 'ref',
      message: 'or environment is required, unless the right is read: pull requests run from any branch',
    });
  return faults;
}

/** Return the claims of a new trust as tokens of the provider have them. */
export function storedClaims(
  provider: CiProvider,
  { ref, ref_protected, ...claims }: NamedClaims,
): Record<string, string> {
  const named = {
    ...claims,
    [provider === 'gitlab' ? 'ref_path' : 'ref']: ref,
    ref_protected: ref_protected === undefined ? undefined : String(ref_protected),
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/**
 * Events of GitHub that only those with write access to the repository cause. Tokens do not say whether a pull request
 * comes from a fork, and an outsider starts others, such as `pull_request_target` and `issue_comment`, on the main branch.
 */
const ownEvents = [
  'push',
  'workflow_dispatch',
  'schedule',
  'release',
  'deployment',
  'merge_group',
  'repository_dispatch',
];

type Claims = Readonly<Record<string, unknown>>;

/** Return why a trust does not admit a token with these verified claims; undefined if it does. */
export function claimMismatch(
  { provider, claims: wanted, scope }: CiTrust,
  claims: Claims,
): string | undefined {
  for (const [name, value] of Object.entries(wanted)) {
    const claim = claimText(claims, name);
    if (claim !== value) return `${name} is ${claim ?? 'missing'}, not ${value}`;
  }
  const event = claimText(claims, 'event_name') ?? 'missing';
  if (provider === 'github' && scope.rights !== 'read' && !ownEvents.includes(event))
    return `event_name is ${event}, not one of ${ownEvents.join(', ')}`;
  return undefined;
}

/** Return what the verified claims of a token say about its run. */
export function ciRunOf({ provider, name }: CiTrust, claims: Claims): CiRun {
  const fact = (...names: readonly string[]): string | null => {
    const text = names.map((claim) => claimText(claims, claim)).find((value) => value !== undefined);
    return text === undefined || !printable.test(text) ? null : text;
  };
  return provider === 'github'
    ? {
        name: fact('repository') ?? name,
        actor: fact('actor'),
        commit: fact('sha'),
        ref: fact('ref'),
        run_id: fact('run_id'),
      }
    : {
        name: fact('project_path') ?? name,
        actor: fact('user_login'),
        commit: fact('sha'),
        ref: fact('ref_path', 'ref'),
        run_id: fact('pipeline_id'),
      };
}

const printable = /^[^\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]{1,255}$/u;
