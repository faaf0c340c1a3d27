import { describe, expect, test } from 'vitest';
import { LineSplitter } from '../../../../shared/runner/telemetry/line-splitter.ts';

/** The lines of bytes that come in pieces of a size. */
function split(text: string | Buffer, size = 1_000_000): string[] {
  const bytes = Buffer.from(text as string);
  const splitter = new LineSplitter();
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    lines.push(...splitter.split(bytes.subarray(start, start + size), 0));
  }
  return [...lines, ...splitter.end()];
}

describe('lines of output', () => {
  test.each([
    ['ends at a line feed', 'a\nb\n', ['a', 'b']],
    ['ends at CR LF', 'a\r\nb\r\n', ['a', 'b']],
    ['needs no end when it is the last', 'a\nb', ['a', 'b']],
    ['may be empty', '\n\na\n', ['', '', 'a']],
    ['is what was written last over it', '10%\r50%\r100%\nnext\n', ['100%', 'next']],
    ['is what stands, though the cursor is at its start', '10%\r50%\r', ['50%']],
    ['ends at several CR and a line feed', 'a\r\r\nb\n', ['a', 'b']],
    ['keeps colours and controls', '\u001b[31mred\u001b[0m\t\u0007\n', ['\u001b[31mred\u001b[0m\t\u0007']],
    ['keeps NUL', 'a\0b\n', ['a\0b']],
    ['keeps line separators that are no line ends', 'a\u2028b\n', ['a\u2028b']],
    ['may be in any script', 'naïve – 日本語 – 👍🏽\nδ\n', ['naïve – 日本語 – 👍🏽', 'δ']],
  ])('one %s', (_, text, lines) => {
    expect(split(text)).toEqual(lines);
    expect(split(text, 1)).toEqual(lines);
    expect(split(text, 3)).toEqual(lines);
  });

  test('bytes that are not UTF-8 are replaced', () => {
    expect(split(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82]))).toEqual(['a\ufffdb', '\ufffd']);
  });

  test.each([1_000_000, 65_536, 1000])(
    'one that is long is cut and nothing of it is lost (pieces of %i bytes)',
    (size) => {
      const long = `${'x'.repeat(16 * 1024 - 1)}👍`.repeat(5);
      const lines = split(`before\n${long}\nafter\n`, size);
      expect(lines.join('')).toBe(`before${long}after`);
      expect(lines.every((line) => line.length <= 16 * 1024 && line.isWellFormed())).toBe(true);
      expect(lines.length).toBeLessThan(10);
    },
  );

  test('a run of carriage returns costs little', () => {
    const splitter = new LineSplitter();
    for (let round = 0; round < 200; round += 1) splitter.split(Buffer.from(`${'\r'.repeat(65_535)}x`), 0);
    expect(splitter.end()).toEqual(['x']);
  });

  test('a progress bar that goes on shows its state every five seconds', () => {
    const splitter = new LineSplitter();
    const shown = [0, 1000, 5000, 6000, 10_000].map((time) => splitter.split(Buffer.from(`\r${time}`), time));
    expect(shown).toEqual([[], [], ['5000'], [], ['10000']]);
    expect(splitter.end()).toEqual(['10000']);
  });
});
