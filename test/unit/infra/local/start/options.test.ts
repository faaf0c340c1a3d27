import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../../infra/command/command-error.ts';
import { checkSettings, readOptions } from '../../../../../infra/local/start/start-options.ts';

const reach = { host: '127.0.0.1', publicUrl: undefined, s3Port: undefined, publicS3Url: undefined };

describe('options of npm start', () => {
  test('have defaults', () => {
    expect(readOptions([], {})).toEqual({
      port: 3000,
      dataFolder: resolve('.data'),
      dataLimit: undefined,
      reach,
      variables: {},
    });
  });

  test('name an issuer, which functions read as variables', () => {
    const flags = ['--oidc-issuer', 'https://login.example.org', '--oidc-groups=ml=developer'];
    const { variables } = readOptions(flags, {});

    expect(variables).toEqual({ OIDC_ISSUER: 'https://login.example.org', OIDC_GROUPS: 'ml=developer' });
    expect(() => checkSettings({ OIDC_GROUPS: 'ml=root' })).toThrow(/^OIDC_GROUPS has "ml=root"/);
    expect(() => checkSettings({ OIDC_ISSUER: 'login.example.org' })).toThrow(/OIDC_ISSUER: must be the URL/);
  });

  test('come from flags before the environment', () => {
    const environment = { PORT: '4000', DATA_DIR: '/from/environment' };
    expect(readOptions([], environment)).toMatchObject({ port: 4000, dataFolder: '/from/environment' });
    const flags = ['--port', '5000', '--data=/from/flag'];
    expect(readOptions(flags, environment)).toMatchObject({ port: 5000, dataFolder: '/from/flag' });
  });

  test.each([
    [['--data-limit', '40GB'], {}, 40e9],
    [[], { DATA_LIMIT: '1.5 tb' }, 1.5e12],
    [['--data-limit', '1000MB'], { DATA_LIMIT: '2GB' }, 1e9],
  ])('take the limit of the data folder from %j and %j', (args, environment, dataLimit) => {
    expect(readOptions(args, environment)).toMatchObject({ dataLimit });
  });

  test.each(['40', '999MB', '-1GB', '40GiB', 'GB'])('refuse %j as a limit, and say what is one', (text) => {
    expect(() => readOptions([`--data-limit=${text}`], {})).toThrow(
      `--data-limit must be a size of at least 1GB, such as 40GB, not "${text}".`,
    );
  });

  test.each([[['--port']], [['--port', '65536']], [['--port', '-1']], [['--data', '']], [['extra']]])(
    'refuse %j and say how they are used',
    (args) => {
      expect(() => readOptions(args, {})).toThrow(CommandError);
      expect(() => readOptions(args, {})).toThrow(/Usage: npm start/);
    },
  );
});
