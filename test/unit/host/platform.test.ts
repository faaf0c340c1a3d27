import { expect, test } from 'vitest';
import { translationFault } from '../../../shared/host/platform.ts';

test('a Node for Intel on a processor of Apple is told to be translated, and no other', () => {
  expect(translationFault('darwin-x64', 'Apple M2 Pro')).toContain('Install Node.js for arm64');
  expect(translationFault('darwin-x64', 'VirtualApple @ 2.50GHz')).toContain('Rosetta');
  expect(translationFault('darwin-x64', 'Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz')).toBeUndefined();
  expect(translationFault('darwin-arm64', 'Apple M2 Pro')).toBeUndefined();
  expect(translationFault()).toBeUndefined();
});
