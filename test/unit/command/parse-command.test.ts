import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { CommandError, parseCommand, splitCommand } from '../../../shared/command/parse-command.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';

const { array, assert, asyncProperty, constantFrom } = fc;

describe('splitting a command', () => {
  test.each([
    ['python train.py', ['python', 'train.py']],
    ['  python\ttrain.py \n', ['python', 'train.py']],
    ['python -c "print(1); print(2)"', ['python', '-c', 'print(1); print(2)']],
    ["echo 'a b' c\\ d", ['echo', 'a b', 'c d']],
    ['echo a"b c"\'d e\'f', ['echo', 'ab cd ef']],
    ['echo ""', ['echo', '']],
    ['echo "a\\"b\\\\c\\d"', ['echo', 'a"b\\c\\d']],
    ['python train.py \\\n  --lr 1', ['python', 'train.py', '--lr', '1']],
    ['python train.py \\\r\n  --lr 1', ['python', 'train.py', '--lr', '1']],
    ['echo a\\\nb "c\\\nd" \'e\\\nf\'', ['echo', 'ab', 'cd', 'e\\\nf']],
    ['echo a#b layers=[64,32] x~y', ['echo', 'a#b', 'layers=[64,32]', 'x~y']],
    ["echo '*.csv' \\*", ['echo', '*.csv', '*']],
    [`train --set '{"lr": 0.1}'`, ['train', '--set', '{"lr": 0.1}']],
    ['echo "ünïcode 模型"', ['echo', 'ünïcode 模型']],
  ])('%j', (text, words) => {
    expect(parseCommand(text)).toEqual(words);
  });

  test('variables stay as they are written, whatever this process has in its environment', () => {
    expect(parseCommand(`echo $HOME "$PATH" \${HOME} '$HOME' $`)).toEqual([
      'echo',
      '$HOME',
      '$PATH',
      `\${HOME}`,
      '$HOME',
      '$',
    ]);
  });

  test('a name goes on in the next line behind a backslash', () => {
    expect(splitCommand('echo $\\\nHOME "$HO\\\nME" \'$HO\\\nME\'').expansions).toEqual([
      { text: '$HOME', word: 1 },
      { text: '$HOME', word: 2 },
    ]);
  });

  test.each([
    ['a | b', 'pipe'],
    ['a && b', 'ampersand'],
    ['a; b', 'semicolon'],
    ['a > log.txt', 'redirection (>)'],
    ['a < in.txt', 'redirection (<)'],
    ['a 2>&1', 'redirection'],
    ['echo `id`', 'command substitution'],
    ['echo "`id`"', 'command substitution'],
    ['echo $(id)', 'command substitution'],
    ['echo "$(id)"', 'command substitution'],
    ['(a)', 'parenthesis'],
    ['cat *.csv', 'wildcard (*)'],
    ['cat data?.csv', 'wildcard (?)'],
    ['a # later', 'comment'],
    ['a\nb', 'line break'],
    ['cd ~/src', 'home folder'],
    ["echo 'a", "quote (')"],
    ['echo "a', 'quote (")'],
    ['echo "a\\"', 'quote (")'],
    ['echo a\\', 'backslash'],
    ['EPOCHS=3 python train.py', 'write env before it'],
    ['', 'blank'],
    [' \n\t', 'blank'],
    ['""', 'empty'],
    ['a\0b', 'NUL'],
  ])('refuses %j and names the reason', (text, reason) => {
    const act = () => parseCommand(text);
    expect(act).toThrow(CommandError);
    expect(act).toThrow(reason);
  });

  test('whatever is accepted without an expansion is split as sh splits it', async () => {
    const piece = constantFrom('a', '$', '{', '}', ' ', '\t', "'", '"', '\\', '=', '.', '#', '~', '\\\n');
    let compared = 0;
    await assert(
      asyncProperty(array(piece, { maxLength: 14 }), async (pieces) => {
        const text = `x${pieces.join('')}`.trim();
        let words: string[];
        try {
          const split = splitCommand(text);
          // `$'…'` is text to dash and a string to bash.
          if (split.expansions.length > 0 || /\$['"]/.test(text)) return;
          words = split.words;
        } catch {
          return;
        }
        compared += 1;
        const { stdout } = spawnSync('sh', ['-c', `set -f; printf '%s\\0' ${text}`], { encoding: 'utf8' });
        expect(words).toEqual(stdout.split('\0').slice(0, -1));
      }),
      { numRuns: runs(300) },
    );
    expect(compared).toBeGreaterThan(runs(200) / 4);
  });
});
