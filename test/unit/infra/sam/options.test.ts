import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readOptions } from '../../../../infra/tools/sam/sam-options.ts';

describe('options of npm run sam', () => {
  test('serve the API by default', () => {
    expect(readOptions([])).toEqual({
      port: 3000,
      dataFolder: resolve('.data'),
      invoke: undefined,
      more: [],
    });
  });

  test('hand on what stands behind --', () => {
    const { port, more } = readOptions(['--port', '4000', '--', '--invoke-image', 'lambda', '--debug']);
    expect([port, more]).toEqual([4000, ['--invoke-image', 'lambda', '--debug']]);
  });

  test('describe a request to invoke one function with', () => {
    const { invoke } = readOptions([
      'invoke',
      'readProject',
      '--path',
      'project_id=a=b',
      '--query',
      'x=1',
      '--token',
      't',
    ]);
    expect(invoke).toEqual({
      operation: 'readProject',
      path: { project_id: 'a=b' },
      query: 'x=1',
      body: undefined,
      token: 't',
    });
  });

  test.each([
    [['invoke']],
    [['serve', 'x']],
    [['invoke', 'a', 'b']],
    [['--port', 'x']],
    [['--port', '70000']],
    [['--path', 'x', 'invoke', 'a']],
    [['--wrong']],
  ])('%j is refused with the usage', (args) => {
    expect(() => readOptions(args)).toThrow('Usage: npm run sam');
  });
});
