import { expect, test } from 'vitest';
import { typeByGroups } from '../../../shared/accounts/oidc/group-rules.ts';

const rules = 'ml-admins=admin, /ml=developer,cn=a=b=viewer,sub:42=admin,*=guest';

test.each([
  [{ groups: ['ml', 'ml-admins'] }, 'admin'],
  [{ groups: ['/ml'] }, 'developer'],
  [{ groups: 'ml' }, 'developer'],
  [{ 'cognito:groups': ['cn=a=b'] }, 'viewer'],
  [{ roles: ['ml-admins'] }, 'admin'],
  [{ sub: '42' }, 'admin'],
  [{ groups: ['*', 'sub:42', 'ML', 'ml-adminsx', 7, null] }, 'guest'],
  [{ groups: { ml: true } }, 'guest'],
  [{}, 'guest'],
])('the groups of %j give the type %s', (claims, type) => {
  expect(typeByGroups(rules, claims)).toBe(type);
});

test('without a rule for everybody, others have no type', () => {
  expect(typeByGroups('ml=developer', { groups: ['sales'], email: 'ml' })).toBeUndefined();
  expect(typeByGroups('example.org=viewer', { hd: 'example.org' })).toBe('viewer');
});
