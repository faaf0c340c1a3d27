import { expect, test } from 'vitest';
import { buildReach } from '../../../../shared/runner/environment/build-reach.ts';
import type { ResolvedDependency } from '../../../../shared/runner/environment/dependencies/resolved-dependencies.ts';
import { indexVariables } from '../../../../shared/runner/environment/index-variables.ts';

const option = (name: 'index-url' | 'extra-index-url' | 'find-links' | 'pre', value: string) =>
  ({ kind: 'option', name, value }) as const;

const reachOf = (
  dependencies: readonly ResolvedDependency[],
  variables: Readonly<Record<string, string>> = {},
  operator: Readonly<Record<string, string>> = {},
) => buildReach(dependencies, indexVariables(variables), operator);

const page = 'https://index.example/simple';
const numpy = { kind: 'package', spec: 'numpy' } as const;

test('does not depend on packages, and on no variable that reaches no build', () => {
  const reach = reachOf([]);

  expect(reach).toMatch(/^[0-9a-f]{64}$/);
  expect(reachOf([numpy], { OTHER: 'x', PIP_CONSTRAINT: 'x' }, { PATH: '/bin', AWS_REGION: 'x' })).toBe(
    reach,
  );
});

test('differs with every setting of the project and of the operator that leads a build to other tools', () => {
  const names = ['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'UV_DEFAULT_INDEX', 'UV_INDEX'];
  const further = ['UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'NPM_CONFIG_REGISTRY'];
  const reaches = [
    reachOf([]),
    ...[...names, ...further].map((name) => reachOf([], { [name]: page })),
    ...[...names, 'PIP_FIND_LINKS', 'UV_FIND_LINKS', 'PIP_CONFIG_FILE'].map((name) =>
      reachOf([], {}, { [name]: page }),
    ),
    ...(['index-url', 'extra-index-url', 'pre'] as const).map((name) => reachOf([option(name, page)])),
    reachOf([option('index-url', 'https://a.example'), option('extra-index-url', 'https://b.example')]),
    reachOf([option('index-url', 'https://b.example'), option('extra-index-url', 'https://a.example')]),
  ];

  expect(reaches).not.toContain(null);
  expect(new Set(reaches).size).toBe(reaches.length);
});

test.each([
  { what: 'an option', dependencies: [option('find-links', page)], variables: {} },
  { what: "pip's variable", dependencies: [], variables: { PIP_FIND_LINKS: page } },
  { what: "uv's variable", dependencies: [], variables: { UV_FIND_LINKS: './wheels' } },
  { what: 'a password', dependencies: [], variables: { PIP_INDEX_URL: 'https://a:b@index.example/simple' } },
  { what: 'a .netrc', dependencies: [], variables: { NETRC: 'machine a login b password c' } },
])('is none with $what, which leads to files that no key holds', ({ dependencies, variables }) => {
  expect(reachOf([numpy, ...dependencies], variables)).toBeNull();
});
