import { describe, expect, test } from 'vitest';
import { LogRecognizer } from '../../../../shared/runner/printed-metrics/log-recognizer.ts';
import { markedLines } from '../../../../shared/runner/printed-metrics/marked-lines.ts';
import { LineSplitter } from '../../../../shared/runner/telemetry/line-splitter.ts';
import { readLog } from './recognized.ts';

describe('lines that hold a mark', () => {
  const markedOf = (text: string, lines: readonly string[] = text.split(/\r?\n/).slice(0, -1)) =>
    markedLines(Buffer.from(text), lines, ['.', 'poch']);

  test('are found by the bytes of their chunk', () => {
    expect(markedOf('first\nplain\nloss 0.5\nloss 1e-5\n\nepoch 3\nread in 0.5 s\nloss 0.5\n')).toEqual([
      0, 2, 5, 7,
    ]);
  });

  test('are found behind line ends of Windows', () => {
    expect(markedOf('first\r\nplain\r\nloss 0.5\r\nplain\r\n')).toEqual([0, 2]);
  });

  test('are found behind a first line that began in an earlier chunk', () => {
    expect(markedOf('rest\nplain\nloss 0.5\n', ['a long line and its rest', 'plain', 'loss 0.5'])).toEqual([
      0, 2,
    ]);
  });

  test('are found behind a line that is another text than its bytes', () => {
    const text = 'first\nplain äöü\nplain\nloss 0.5\n\rbar 10%\rbar 20%\nplain\nepoch 3\n';
    const lines = ['first', 'plain äöü', 'plain', 'loss 0.5', 'bar 20%', 'plain', 'epoch 3'];

    expect(markedOf(text, lines)).toEqual([0, 3, 6]);
  });

  test('are all behind a line that is longer than its bytes, as one with a masked secret is', () => {
    expect(markedOf('first\nkey ab\nplain\n', ['first', 'key ******', 'plain'])).toEqual([0, 1, 2]);
  });
});

test.each(['lightgbm.txt', 'xgboost.txt', 'spacy.txt', 'tqdm.txt', 'deap.txt', 'other-programs.txt'])(
  'the metrics of %s are the same in chunks of any size as line by line',
  (name) => {
    const log = Buffer.from(readLog(name));
    const readIn = (
      bytes: number,
      read: (recognizer: LogRecognizer, lines: string[], chunk: Buffer) => unknown[],
    ) => {
      const recognizer = new LogRecognizer();
      const splitter = new LineSplitter();
      const found: unknown[] = [];
      for (let from = 0; from < log.length; from += bytes) {
        const chunk = log.subarray(from, from + bytes);
        found.push(...read(recognizer, splitter.split(chunk, 0), chunk));
      }
      return found;
    };

    const byLines = readIn(log.length, (recognizer, lines) => lines.flatMap((line) => recognizer.read(line)));

    for (const bytes of [61, 500, 4_096, log.length]) {
      const inChunks = readIn(bytes, (recognizer, lines, chunk) => recognizer.readAll(lines, chunk));
      expect(inChunks).toEqual(byLines);
    }
  },
);
