import { describe, expect, test, vi } from 'vitest';
import { LogBuffer } from '../../../functions/console/app/experiment/log/log-buffer.ts';
import {
  LogLevels,
  type LogLine,
  plainText,
} from '../../../functions/console/app/experiment/log/log-levels.ts';
import { parseJsonTable, parseSeparated } from '../../../functions/console/app/preview/table-data.ts';
import { cronWords } from '../../../functions/console/app/schedules/cron-words.ts';
import {
  causeText,
  durationText,
  fixedText,
  isNumberText,
  numberText,
  runDurationText,
  sizeHint,
  timeText,
} from '../../../functions/console/app/ui/text/format.ts';
import { jsonText } from '../../../functions/console/app/ui/text/json-text.ts';

test.each([
  [81_634.7, '81,635'],
  [81_609, '81,609'],
  [0.98889123, '0.98889'],
  [1234.56, '1234.6'],
])('the number %s is written as %s', (value, text) => {
  expect(numberText(value)).toBe(text);
});

test('the times and numbers of a thousand rows take a formatter of times, and one of each number of decimal places', () => {
  const made = [
    vi.spyOn(Intl, 'DateTimeFormat'),
    vi.spyOn(Intl, 'NumberFormat'),
    vi.spyOn(Date.prototype, 'toLocaleString'),
    vi.spyOn(Number.prototype, 'toLocaleString'),
  ];

  for (let row = 0; row < 1_000; row += 1) {
    timeText(new Date(row * 60_000).toISOString());
    fixedText(row / 7, 3 + (row % 2));
  }

  expect(made.map(({ mock }) => mock.calls.length)).toEqual([1, 2, 0, 0]);
  expect(fixedText(1_234.5, 3)).toBe('1,234.500');
  vi.restoreAllMocks();
});

test('JSON has each list of numbers in one line, and its texts unchanged', () => {
  const answer = { outputs: [{ shape: [1, 3], data: [0.5, null, 'a [\n 1 \n] "b"'] }, { data: [1, 2] }] };
  const text = jsonText(answer);

  expect(JSON.parse(text)).toEqual(answer);
  expect(text.split('\n')).toEqual(
    expect.arrayContaining(['      "shape": [1, 3],', '      "data": [1, 2]']),
  );
});

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
    expect(new LogLevels().levelOf(logLine(message))).toBe(level);
  });

  const errorsIn = (text: string): string[] => {
    const levels = new LogLevels();
    return text.split('\n').filter((line) => levels.levelOf(logLine(line)) === 'error');
  };

  test.each([
    [
      'of Python, with the error that was handled before it',
      `Traceback (most recent call last):
  File "train.py", line 21, in <module>
    main()
    ~~~~^^
KeyError: 'lr'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 23, in <module>
    raise ValueError("no lr") from None
ValueError: no lr`,
    ],
    [
      'of Python, behind what a launcher puts before each line',
      `[rank0]: Traceback (most recent call last):
[rank0]:   File "train.py", line 21, in step
[rank0]:     loss.backward()
[rank0]: torch.OutOfMemory: no room`,
    ],
    [
      'of a group of errors',
      `  + Exception Group Traceback (most recent call last):
  |   File "train.py", line 3, in <module>
  |     run()
  +-+---------------- 1 ----------------
    | ValueError: one
ExceptionGroup: two (1 sub-exception)`,
    ],
    [
      'of JavaScript',
      `TypeError: data is not iterable
    at train (file:///job/train.js:3:9)
    at async main (file:///job/train.js:9:1)`,
    ],
    [
      'of Java',
      `java.lang.IllegalStateException: no data
\tat org.example.Train.main(Train.java:9)
Caused by: java.io.IOException: gone
\tat org.example.Data.read(Data.java:4)
\t... 1 more`,
    ],
  ])('has a traceback %s as one block of errors', (_, traceback) => {
    const whole = `epoch 1\n${traceback}\nepoch 2\n  indented`;
    expect(errorsIn(whole).join('\n')).toBe(traceback);
  });

  test('has a traceback as one block though the other stream writes between its lines', () => {
    const levels = new LogLevels();
    const lines = [
      logLine('Traceback (most recent call last):', 'stderr'),
      logLine('epoch 1'),
      logLine('  File "train.py", line 21', 'stderr'),
      logLine('ValueError: bad', 'stderr'),
      logLine('  plain', 'stderr'),
    ];
    expect(lines.map((line) => levels.levelOf(line))).toEqual(['error', 'plain', 'error', 'error', 'plain']);
  });

  test('has the line of the program below a warning of Python as part of it', () => {
    const levels = new LogLevels();
    const lines = ['train.py:3: FutureWarning: gone soon', '  old()', '  other'].map((text) => logLine(text));
    expect(lines.map((line) => levels.levelOf(line))).toEqual(['warning', 'warning', 'plain']);
  });

  test('keeps bounded memory, and its newest line however long', () => {
    const buffer = new LogBuffer(true);
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
  expect(parseSeparated('a,"b ""x"", c"\r\n"1\n2",3\n', ',', true)).toMatchObject({
    columns: ['a', 'b "x", c'],
    rows: [['1\n2', 3]],
  });
  expect(parseSeparated('a\nb\nc', ',', true).rows).toHaveLength(2);
});

test('the last row of a file that is cut is left out', () => {
  expect(parseSeparated('a,b\n1,2\n3', ',', false)).toMatchObject({ rows: [[1, 2]], isWhole: false });
});

test.each([
  ['of mlflow.log_table', '{"columns": ["a", "b"], "data": [[1, {"c": 2}], [null, "x"]]}'],
  ['of objects', '[{"a": 1, "b": {"c": 2}}, {"b": "x"}]'],
  ['of an object a line', '{"a": 1, "b": {"c": 2}}\n{"b": "x"}\n'],
])('JSON %s is a table', (_, text) => {
  expect(parseJsonTable(text)).toMatchObject({
    columns: ['a', 'b'],
    rows: [
      [1, '{"c":2}'],
      [null, 'x'],
    ],
  });
});

test.each(['{"a": 1}', '[1, 2]', '[]', '{"a":'])('the JSON %s is no table', (text) => {
  expect(parseJsonTable(text)).toBeUndefined();
});

describe('a figure of a job', () => {
  test.each([
    ['memory', '2048', '2 GiB'],
    ['memory', '512', undefined],
    ['memory', '', undefined],
    ['timeout', '21600', '6 h'],
    ['timeout', '45', undefined],
    ['timeout', 'soon', undefined],
    ['vcpus', '4096', undefined],
  ])('has as %s "%s" the hint %s', (name, typed, hint) => {
    expect(sizeHint(name, typed)).toBe(hint);
  });

  test.each([
    [null, '–'],
    [0.012, '–'],
    [0.4, '0.4 s'],
    [61, '1 min 1 s'],
  ])('has the duration %s as "%s"', (seconds, text) => {
    expect(runDurationText(seconds)).toBe(text);
  });

  test('has a deviation of nothing as 0.0 s', () => {
    expect(durationText(0.012)).toBe('0.0 s');
  });

  test.each([
    ['ValueError: bad\nThe command ended with exit code 1.', 'ValueError: bad'],
    ['The command ended with exit code 1.', 'The command ended with exit code 1.'],
    [
      'The command ended with exit code 137. Shells give it for a process that was killed (signal 9).',
      'The command ended with exit code 137. Shells give it for a process that was killed (signal 9).',
    ],
  ])('has of the reason "%s" the cause "%s"', (reason, cause) => {
    expect(causeText(reason)).toBe(cause);
  });
});

test.each([
  ['0 3 * * 1-5', 'at 03:00, Monday to Friday'],
  ['30 2,14 * * *', 'at 02:30 and 14:30, every day'],
  ['*/15 * * * *', 'every 15 minutes, every day'],
  ['5 */6 * * sun', 'every 6 hours at :05, Sunday'],
  ['0 4 1 * *', 'at 04:00, on day 1 of the month'],
  ['*/7 * * * *', '*/7 * * * *'],
  ['0 3 13 * 5', '0 3 13 * 5'],
  ['0 3', '0 3'],
])('the schedule %s is %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words);
});

test('NaN and infinities stand right in a column, as other numbers; blank and other texts do not', () => {
  const texts = ['3', '-1e-5', 'NaN', 'Infinity', '-Infinity', '', ' ', 'adam', 'nan'];

  expect(texts.filter(isNumberText)).toEqual(['3', '-1e-5', 'NaN', 'Infinity', '-Infinity']);
});
