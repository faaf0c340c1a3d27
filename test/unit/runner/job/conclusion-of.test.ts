import { expect, test } from 'vitest';
import type { Outcome } from '../../../../shared/process/supervise.ts';
import { conclusionOf } from '../../../../shared/runner/job/conclusion-of.ts';

const circumstances = { stop: undefined, cancelled: undefined, timeout: 60, memory: 512 };
const killed = { exitCode: null, signal: 'SIGKILL', killed: false, peakRssBytes: null } as const;

test.each<[string, Outcome, string]>([
  [
    'was killed by somebody',
    { cause: 'signalled', signal: 'SIGKILL', peakRssBytes: null },
    'The command was killed (signal 9).',
  ],
  [
    'ends as shells report a killed child',
    { cause: 'exited', exitCode: 137, peakRssBytes: null },
    'The command ended with exit code 137. Shells give it for a process that was killed (signal 9).',
  ],
  [
    'the kernel killed for want of memory',
    { cause: 'out-of-memory', by: 'kernel', ...killed },
    'The command was killed (signal 9) when the kernel ran out of memory and ended processes. The memory of the job is 512 MiB.',
  ],
  [
    'took more than its limit',
    { cause: 'out-of-memory', by: 'limit', ...killed },
    'The command exceeded its 512 MiB of memory and was ended.',
  ],
])('the conclusion of a command that %s says what is known', (_, outcome, reason) => {
  expect(conclusionOf(outcome, circumstances)).toMatchObject({ status: 'FAILED', reason });
});
