import { expect, test } from 'vitest';
import { contradictions } from '../../../../../shared/runner/environment/dependencies/contradictions.ts';

const of = (...specs: readonly string[]) =>
  contradictions(specs.map((spec, index) => ({ spec, where: `a.txt: line ${index + 1}` })));

test.each([
  [['six==1.16.0', 'six==1.17.0']],
  [['six>=2', 'six<2']],
  [['six==1.16.*', 'six>=1.17']],
  [['six[a]~=1.16', 'six<1.16']],
  [['six>2,<1']],
])('no version meets %j', (specs) => {
  expect(of(...specs)).toEqual([expect.stringMatching(/^six: no version meets six.* \(a\.txt: line 1\)/)]);
});

test.each([
  [['six==1.16.0', 'six==1.16']],
  [['six>=1,<2', 'six>1.5', 'six~=1.6']],
  [['six>1.2', 'six<1.3']],
  [['six<1', 'numpy>=2']],
  [['six==1.*', 'six>=1.5']],
  [['six>=1', 'six!=1.*', 'six<3']],
  [['six==1.0', 'six==2.0 ; python_version < "3.9"']],
  [['torch==2.1.0+cu118', 'torch==2.1.0']],
  [['six @ https://files.example/six.whl', 'six==1.0']],
  [['six==2.0rc1', 'six<2']],
])('a version may meet %j', (specs) => {
  expect(of(...specs)).toEqual([]);
});
