import { expect, test } from 'vitest';
import { commonBeginning } from '../../../functions/console/app/ui/text/common-beginning.ts';

test.each([
  [['resnet-sgd-lr0.01-s1', 'resnet-sgd-lr0.02-s1'], 'resnet-sgd-'],
  [['resnet-sgd', 'resnet-sgd-2'], 'resnet-'],
  [['resnet-sgd', 'resnet-sgd'], 'resnet-'],
  [['run 1', 'run 2'], ''],
  [['resnet-sgd-1'], ''],
  [['resnet-sgd-1', 'vit'], ''],
  [[], ''],
])('%j begin with the same words', (names, words) => {
  expect(commonBeginning(names)).toBe(words);
});
