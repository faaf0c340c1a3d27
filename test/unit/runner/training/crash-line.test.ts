import { expect, test } from 'vitest';
import { conclusionOf } from '../../../../shared/runner/job/conclusion-of.ts';
import { CrashLine } from '../../../../shared/runner/training/crash-line.ts';

function lineOf(stderr: string, stdout = ''): string | undefined {
  const crash = new CrashLine();
  for (let at = 0; at < stderr.length; at += 1000)
    crash.take('stderr', Buffer.from(stderr.slice(at, at + 1000)));
  crash.take('stdout', Buffer.from(stdout));
  return crash.read();
}

const traceback = `Traceback (most recent call last):
  File "train.py", line 3, in <module>
    fit(x)
  File "train.py", line 1, in fit
    raise ValueError("bad shape (3, 4)\\nsecond line")
ValueError: bad shape (3, 4)
second line
`;

/** As papermill 2.7 prints it. */
const notebookTrace = `Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/papermill/execute.py", line 251, in raise_for_execution_errors
    raise error
papermill.exceptions.PapermillExecutionError: 
---------------------------------------------------------------------------
Exception encountered at "In [5]":
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[5], line 2, in f()
      1 def f():
----> 2     raise ValueError('bad shape')
`;

test.each([
  ['Python', traceback, 'ValueError: bad shape (3, 4)'],
  [
    'Python, chained',
    `KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n${traceback}`,
    'ValueError: bad shape (3, 4)',
  ],
  [
    'Python, an exception of any name',
    'Traceback (most recent call last):\n  File "x"\nmy.Oops\n',
    'my.Oops',
  ],
  ['Python, after much else', `${'warning\n'.repeat(9000)}${traceback}bye\n`, 'ValueError: bad shape (3, 4)'],
  ['a cell of a notebook', `${notebookTrace}\nValueError: bad shape\n\n`, 'ValueError: bad shape'],
  [
    'Node',
    "file:///x.js:1\nnull.x\n     ^\n\nTypeError: Cannot read properties of null (reading 'x')\n    at file:///x.js:1:6\n\nNode.js v24\n",
    "TypeError: Cannot read properties of null (reading 'x')",
  ],
  [
    'with colours',
    'Traceback (most recent call last):\n  File "x"\n\u001b[31mOSError: no\u001b[0m\n',
    'OSError: no',
  ],
  [
    'with credentials',
    'Traceback (most recent call last):\n  File "x"\nIOError: https://me:secret@host/x\n',
    'IOError: https://***@host/x',
  ],
  ['nothing that names an error', 'epoch 1\nwarning: slow\n', undefined],
])('the error of a crash: %s', (_, stderr, expected) => {
  expect(lineOf(stderr)).toBe(expected);
});

test('a traceback on stdout counts where stderr names none, and a long line is cut', () => {
  expect(lineOf('noise\n', traceback)).toBe('ValueError: bad shape (3, 4)');
  expect(lineOf(`RuntimeError: ${'x'.repeat(5000)}`)).toHaveLength(300);
});

test('the reason of a failure begins with it', () => {
  const around = { stop: undefined, cancelled: undefined, memory: 2048, timeout: 60 };
  const outcome = { cause: 'exited', exitCode: 1, signal: null, killed: false, peakRssBytes: null } as const;
  expect(conclusionOf(outcome, { ...around, crash: 'ValueError: no' })?.reason).toBe(
    'ValueError: no\nThe command ended with exit code 1.',
  );
  expect(conclusionOf(outcome, around)?.reason).toBe('The command ended with exit code 1.');
});
