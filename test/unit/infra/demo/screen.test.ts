import { expect, test } from 'vitest';
import { Screen, sparkline } from '../../../../infra/tools/demo/screen.ts';

function shown(isTTY: boolean, environment: Record<string, string>, use: (screen: Screen) => void): string {
  let text = '';
  const write = (part: string | Uint8Array) => {
    text += part;
    return true;
  };
  use(new Screen({ write, isTTY }, environment));
  return text;
}

test('what a job prints cannot move the cursor', () => {
  const text = shown(false, {}, (screen) => {
    screen.progress(1.25, 'log', 'a\u001b[2J\rb\u0007\tc');
    screen.quote('\u009b1mx');
    screen.fact('reason', 'y\u001b]0;title\u0007');
  });
  expect(text).toBe('   1.3 s  log     | a[2Jb\tc\n  1mx\n  reason          y]0;title\n');
});

test('colours are for people who want them', () => {
  const good = (screen: Screen) => screen.good('done');
  expect(shown(true, {}, good)).toBe('\u001b[32mdone\u001b[0m\n');
  expect([shown(false, {}, good), shown(true, { NO_COLOR: '1' }, good)]).toEqual(['done\n', 'done\n']);
});

test('a curve in one line', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 40)).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline([7, 7, 7], 40)).toBe('▁▁▁');
  expect(sparkline([0, 0, 1, 1, 7, 7], 3)).toBe('▁▂█');
  expect(sparkline([], 3)).toBe('');
});
