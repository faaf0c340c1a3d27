import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../../infra/command/command-error.ts';
import { readOptions } from '../../../../../infra/local/start/start-options.ts';

const reach = { host: '127.0.0.1', publicUrl: undefined, s3Port: undefined, publicS3Url: undefined };

describe('options of npm start', () => {
  test('have defaults', () => {
    expect(readOptions([], {})).toEqual({ port: 3000, dataFolder: resolve('.data'), reach });
  });

  test('come from flags before the environment', () => {
    const environment = { PORT: '4000', DATA_DIR: '/from/environment' };
    expect(readOptions([], environment)).toMatchObject({ port: 4000, dataFolder: '/from/environment' });
    const flags = ['--port', '5000', '--data=/from/flag'];
    expect(readOptions(flags, environment)).toMatchObject({ port: 5000, dataFolder: '/from/flag' });
  });

  test.each([[['--port']], [['--port', '65536']], [['--port', '-1']], [['--data', '']], [['extra']]])(
    'refuse %j and say how they are used',
    (args) => {
      expect(() => readOptions(args, {})).toThrow(CommandError);
      expect(() => readOptions(args, {})).toThrow(/Usage: npm start/);
    },
  );
});
