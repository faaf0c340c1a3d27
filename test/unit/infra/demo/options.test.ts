import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readDemoOptions } from '../../../../infra/tools/demo/demo-options.ts';

test('starts a service of its own unless one is named', () => {
  expect(readDemoOptions([], {})).toEqual({
    service: undefined,
    isRemote: false,
    dataFolder: resolve('.data/demo'),
  });
  expect(readDemoOptions(['--remote', '--data', '/x'], {})).toMatchObject({
    isRemote: true,
    dataFolder: '/x',
  });
});

test('records many in the service that mps uses, unless a folder is named for one of its own', () => {
  expect(readDemoOptions(['--many'], {})).toMatchObject({
    service: { url: undefined, credentials: undefined },
    many: 10_000,
  });
  expect(readDemoOptions(['--many', '--data', '/x'], {})).toMatchObject({ service: undefined });
});

test('signs in to a named service as mps does, by token, or by name and password', () => {
  const named = ['--url', 'https://host/prod/'];
  expect(readDemoOptions(named, {}).service).toEqual({
    url: 'https://host/prod',
    credentials: undefined,
  });
  expect(readDemoOptions(named, { DEMO_TOKEN: 't' }).service).toEqual({
    url: 'https://host/prod',
    credentials: { token: 't' },
  });
  const byName = readDemoOptions(named, { DEMO_USERNAME: 'u', DEMO_PASSWORD: 'p' }).service;
  expect(byName?.credentials).toEqual({ username: 'u', password: 'p' });
});

test.each([
  [['--what'], {}, '--what'],
  [['stray'], {}, 'stray'],
  [['--data', ''], {}, '--data'],
  [['--url', 'host'], { DEMO_TOKEN: 't' }, '--url'],
  [['--url', 'file:///etc'], { DEMO_TOKEN: 't' }, '--url'],
  [['--url', 'http://host'], { DEMO_USERNAME: 'u' }, 'DEMO_PASSWORD'],
])('refuses %j', (args, environment, named) => {
  expect(() => readDemoOptions(args, environment)).toThrow(named);
  expect(() => readDemoOptions(args, environment)).toThrow('Usage: npm run demo');
});
