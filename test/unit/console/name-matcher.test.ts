import { expect, test } from 'vitest';
import { nameMatcher } from '../../../functions/console/app/ui/text/name-matcher.ts';

const names = ['val/loss', 'val/acc', 'train/loss', 'f1(macro)', 'a+b'];

test.each([
  ['', names],
  ['LOSS', ['val/loss', 'train/loss']],
  ['^val/', ['val/loss', 'val/acc']],
  ['(acc|f1)', ['val/acc', 'f1(macro)']],
  ['f1(', ['f1(macro)']],
  ['a+b', ['a+b']],
])('a name is found by a part or a regular expression: %s', (text, found) => {
  expect(names.filter(nameMatcher(text))).toEqual(found);
});
