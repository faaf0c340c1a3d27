import { expect, test } from 'vitest';
import { pinFault, unmetPin } from '../../../../shared/runner/environment/install/pin-fault.ts';

const required = [{ name: 'torch', where: 'requirements.txt: line 2' }];

test('a pin that this Python cannot have is told with its line, its Python and what there is', () => {
  expect(pinFault('torch==1.7.0', '2.15.0', required, 'cpython-3.11.2')).toBe(
    'torch==1.7.0 (requirements.txt: line 2): the package index has no such version for Python 3.11.2, but 2.15.0. Require that, or choose the Python that it was made for (python: "3.8" in mps.yaml, for example).',
  );
});

test('a requirement of another package, and a name without any version, are told', () => {
  expect(pinFault('numpy<2,>=1.9', '2.2', required, 'cpython-3.14.0')).toMatch(
    /^numpy<2,>=1\.9 \(another package requires it\): .* for Python 3\.14\.0, but 2\.2\. /,
  );
  expect(pinFault('torchh', undefined, required, 'pypy-3.10.1')).toMatch(
    /^torchh \(another .*no such version for pypy 3\.10\.1\. Look at the name, or /,
  );
});

test.each([
  [
    `  × No solution found when resolving dependencies:
  ╰─▶ Because torch==1.7.0 has no wheels with a matching Python version tag
      (e.g., \`cp311\`) and you require torch==1.7.0, we can conclude that your
      requirements are unsatisfiable.`,
    'torch==1.7.0',
  ],
  [
    '× No solution found\n╰─▶ Because there is no version of torch==1.7.0 and you require torch==1.7.0',
    'torch==1.7.0',
  ],
  ['╰─▶ Because torchh was not found in the package registry and you require torchh', 'torchh'],
  [
    'cause: Because only the following versions of six are available:\n         six<0.99\n         six>=1.0\n   and you require six>=0.99,<1.0, we can conclude that',
    'six>=0.99,<1.0',
  ],
  ['error: something else', undefined],
])('uv says it as %j', (output, requirement) => {
  expect(unmetPin(output)).toBe(requirement);
});
