import { describe, expect, test } from 'vitest';
import { CommandError } from '../../../../infra/command/command-error.ts';
import { HelpRequestedError, readFlags } from '../../../../infra/command/read-flags.ts';

const usage = 'Usage: npm run grow -- [--trees <number>]';
const options = { trees: { type: 'string', default: '3' } } as const;
const read = (...args: string[]) => readFlags(usage, { args, options }).values;

describe('the flags of a command', () => {
  test('are those that are given, over what is said beforehand', () => {
    expect(read()).toEqual({ trees: '3' });
    expect(read('--trees', '7')).toEqual({ trees: '7' });
  });

  test.each([['--bushes'], ['--trees'], ['oak']])(
    '%s is refused, with how the command is used',
    (...args) => {
      expect(() => read(...args)).toThrow(CommandError);
      expect(() => read(...args)).toThrow(usage);
    },
  );

  test.each(['--help', '-h'])('%s asks how the command is used, whatever else is there', (flag) => {
    expect(() => read('--bushes', flag)).toThrow(new HelpRequestedError(usage));
  });
});
