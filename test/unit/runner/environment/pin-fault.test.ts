import { expect, test } from 'vitest';
import { pinFault } from '../../../../shared/runner/environment/install/pin-fault.ts';

const required = [{ name: 'torch', where: 'requirements.txt: line 2' }];

const unmet = (what: string, versions: string) =>
  `Collecting six\nERROR: Could not find a version that satisfies the requirement ${what} (from versions: ${versions})\nERROR: No matching distribution found for torch`;

test('a pin that this Python cannot have is told with its line, its Python and what there is', () => {
  const output = unmet('torch==1.7.0', '1.13.0, 1.13.1, 2.0.0, 2.0.1, 2.1.0, 2.15.0');

  expect(pinFault(output, required, 'cpython-3.11.2')).toBe(
    'torch==1.7.0 (requirements.txt: line 2): the package index has no such version for Python 3.11.2, but 1.13.0 to 2.15.0. Require one of these, or choose the Python that it was made for (python: "3.8" in mps.yaml, for example).',
  );
});

test('a requirement of another package, and a name without any version, are told', () => {
  expect(pinFault(unmet('numpy<2,>=1.9 (from old)', '2.1, 2.2'), required, 'cpython-3.14.0')).toMatch(
    /^numpy<2,>=1\.9 \(another package requires it\): .* for Python 3\.14\.0, but 2\.1, 2\.2\. /,
  );
  expect(pinFault(unmet('torchh', 'none'), required, 'pypy-3.10.1')).toMatch(
    /^torchh \(another .*no such version for pypy 3\.10\.1\. Look at the name, or /,
  );
});

test('uv, which lists no versions, is understood, too', () => {
  const output = `  × No solution found when resolving dependencies:
  ╰─▶ Because torch==1.7.0 has no wheels with a matching Python version tag
      (e.g., \`cp311\`) and you require torch==1.7.0, we can conclude that your
      requirements are unsatisfiable.`;
  expect(pinFault(output, required, 'cpython-3.11.2')).toMatch(
    /^torch==1\.7\.0 \(requirements\.txt: line 2\): /,
  );
  const none =
    '× No solution found\n╰─▶ Because there is no version of torch==1.7.0 and you require torch==1.7.0';
  expect(pinFault(none, required, 'cpython-3.11.2')).toMatch(/^torch==1\.7\.0 /);
  expect(pinFault('error: something else', required, 'cpython-3.11.2')).toBeUndefined();
});
