import { expect, test } from 'vitest';
import { printableText } from '../../../shared/core/text/printable-text.ts';

test.each([
  ['clears the screen', '\u001b[2J\u001b[Hgone', 'gone'],
  ['writes into the clipboard', 'a\u001b]52;c;ZXZpbA==\u0007b', 'ab'],
  ['writes into the clipboard, ended by ST', 'a\u001b]52;c;ZXZpbA==\u001b\\b', 'ab'],
  ['with C1 controls', 'a\u009d52;c;ZXZpbA==\u009cb\u009b2Jc', 'abc'],
  ['never ends its string', 'a\u001b]52;c;ZXZpbA==', 'a52;c;ZXZpbA=='],
  ['resets the terminal', '\u001bcnew', 'new'],
  ['chooses a character set', '\u001b(0text', 'text'],
  ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
  ['hides text', '\u001b[8mhidden\u001b[28m', 'hidden'],
  ['asks the terminal to answer', '\u001b[6n\u001bP$q"p\u001b\\x', 'x'],
  ['rewrites the line', 'good\rbad\b\b\u007f', 'goodbad'],
  ['ends in an escape', 'a\u001b', 'a'],
  ['hides one sequence in another', '\u001b\u001b[2J[2J', '[2J'],
])('what %s is text alone', (_, text, expected) => {
  expect(printableText(text)).toBe(expected);
  expect(printableText(expected)).toBe(expected);
});

test('text, tabs and other writing systems stay', () => {
  const text = 'epoch 1:\tloss 0.5 – größer, 訓練, 🚀\n';
  expect(printableText(text)).toBe(text);
});

test.each(['\u001b]', '\u009d', '\u009b1', '\u001b[', '\u001b', '\u001bP0', '\u001b#'])(
  'a megabyte of %j is nothing that takes long',
  (piece) => {
    const cleaned = printableText(piece.repeat(1_000_000 / piece.length));
    expect(/(?![\t\n])\p{Cc}/u.test(cleaned)).toBe(false);
  },
);
