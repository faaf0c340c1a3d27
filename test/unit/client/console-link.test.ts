import { describe, expect, test } from 'vitest';
import { consoleLink, consoleOf } from '../../../shared/client/console-link.ts';

describe('consoleLink', () => {
  test('leads to a page of the console of a service', () => {
    const console_url = consoleOf('https://mps.example/v1');
    expect(consoleLink(console_url, ['projects', 'p1'])).toBe('https://mps.example/v1/console#/projects/p1');
  });

  test('escapes the names that users choose, and leaves out parameters without a value', () => {
    const query = { strategy: 'a&b', version: '', metric: undefined };
    expect(consoleLink('', ['models', '../a b?#.onnx'], query)).toBe(
      '#/models/..%2Fa%20b%3F%23.onnx?strategy=a%26b',
    );
  });
});
