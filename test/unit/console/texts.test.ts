import { describe, expect, test } from 'vitest';
import { rowsOf } from '../../../functions/console/app/experiment/csv.ts';
import {
  LogBuffer,
  type LogLine,
  levelOf,
  plainText,
} from '../../../functions/console/app/experiment/log-buffer.ts';

const logLine = (message: string, stream: LogLine['stream'] = 'stdout'): LogLine => ({
  time: '2026-01-05T08:00:00.000Z',
  stream,
  message,
});

describe('a log', () => {
  test.each([
    ['ValueError: bad shape', 'error'],
    ['\u001b[31mValueError: red', 'error'],
    ['12:00 WARNING slow disk', 'warning'],
    ['FutureWarning: gone soon', 'warning'],
    ['DEBUG cache hit', 'debug'],
    ['epoch 3 without errors', 'plain'],
  ])('has the line "%s" as %s', (message, level) => {
    expect(levelOf(logLine(message))).toBe(level);
  });

  test('keeps bounded memory, and its newest line however long', () => {
    const buffer = new LogBuffer();
    for (let round = 0; round < 9; round += 1) buffer.add([logLine('x'.repeat(10_000_000))]);
    expect(buffer.lines).toHaveLength(6);
    expect(buffer.dropped).toBe(3);
    buffer.add([logLine('y'.repeat(90_000_000))]);
    expect(buffer.lines).toHaveLength(1);
  });

  test('is shown without the codes of terminals', () => {
    expect(plainText('\u001b[31mred\u001b[0m')).toBe('red');
  });
});

test('separated values have quotes, separators and line ends within cells', () => {
  expect(rowsOf('a,"b ""x"", c"\r\n"1\n2",3\n', ',', 10)).toEqual([
    ['a', 'b "x", c'],
    ['1\n2', '3'],
  ]);
  expect(rowsOf('a\nb\nc', ',', 2)).toHaveLength(2);
});
