import { type AccountType, accountTypes } from '../../data/accounts/user.ts';

/** Account type of the members of a group. */
interface GroupRule {
  /** `*` for everybody whom the issuer signs in. */
  group: string;
  type: AccountType;
}

/**
 * Parse rules such as `ml-admins=admin,ml=developer,*=viewer`. A name of a group may contain `=`.
 * @returns the rules, or the end of a sentence about what is wrong
 */
export function groupRules(text: string): readonly GroupRule[] | string {
  const rules: GroupRule[] = [];
  for (const entry of text.split(',').map((one) => one.trim())) {
    const at = entry.lastIndexOf('=');
    const type = accountTypes.find((name) => name === entry.slice(at + 1));
    if (at < 1 || type === undefined)
      return `has "${entry}"; it must be groups with account types (${accountTypes.join(', ')}), such as ml-admins=admin,*=viewer`;
    rules.push({ group: entry.slice(0, at), type });
  }
  return rules;
}

/**
 * Claims in which issuers name groups: most of them, Cognito, GitLab, roles of Entra and Keycloak, the domain of Google. Those
 * of Auth0 begin with a URL of its owner's.
 */
const groupClaim = /^(?:https?:\/\/.+\/)?(?:groups|cognito:groups|groups_direct|roles|hd)$/;

/**
 * Return the account type with the most rights that the groups of a person give. Undefined if they give none.
 * @param text rules as {@link groupRules} takes them; wrong ones give nobody a type
 * @param claims verified claims; `sub:<subject>` is a group of this one person
 */
export function typeByGroups(
  text: string,
  claims: Readonly<Record<string, unknown>>,
): AccountType | undefined {
  const rules = groupRules(text);
  if (typeof rules === 'string') return undefined;
  const named = Object.keys(claims).flatMap((name) => (groupClaim.test(name) ? [claims[name]].flat() : []));
  // Keycloak names groups by their paths.
  const groups = new Set(named.flatMap((name) => (typeof name === 'string' ? name.replace(/^\//, '') : [])));
  // Nobody becomes one of `*` or `sub:…` by the name of a group.
  const isOf = (group: string) =>
    group === '*' ||
    (group.startsWith('sub:') ? group === `sub:${claims['sub']}` : groups.has(group.replace(/^\//, '')));
  const types = rules.filter(({ group }) => isOf(group)).map(({ type }) => type);
  return accountTypes.findLast((type) => types.includes(type));
}
