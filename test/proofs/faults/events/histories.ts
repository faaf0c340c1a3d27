import { randomUUID } from 'node:crypto';
import { pick, shuffled } from '../../../support/random-choice.ts';

type Status = 'SUBMITTED' | 'PENDING' | 'RUNNABLE' | 'STARTING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';

interface EndedAttempt {
  container: { exitCode: number };
  startedAt: number;
  stoppedAt: number;
  statusReason: string;
}

/** What a state-change event of Batch says, as far as it is read. */
export interface JobEvent {
  detail: {
    jobId: string;
    jobName: string;
    status: Status;
    statusReason?: string;
    container?: { exitCode?: number };
    attempts: EndedAttempt[];
  };
}

/** The life of one job as Batch tells it, in order; not every life is told to its end. */
export function historyOf(random: () => number, jobId: string, jobName: string): JobEvent[] {
  const events: JobEvent[] = [];
  const attempts: EndedAttempt[] = [];
  const addEvent = (status: Status, more: Partial<JobEvent['detail']> = {}) =>
    events.push({ detail: { jobId, jobName, status, attempts: [...attempts], ...more } });
  if (random() < 0.3) addEvent('PENDING');
  const most = 1 + Math.floor(random() * 3);
  for (let attempt = 1; attempt <= most; attempt += 1) {
    addEvent('RUNNABLE', random() < 0.5 ? { statusReason: 'MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT' } : {});
    addEvent('STARTING');
    addEvent('RUNNING');
    const exitCode = attempt < most ? 137 : pick(random, [0, 1, 137, 143]);
    const startedAt = 1_700_000_000_000 + attempt * 100_000;
    const statusReason = attempt < most ? 'Host EC2 (i-0) terminated.' : 'Essential container in task exited';
    attempts.push({ container: { exitCode }, startedAt, stoppedAt: startedAt + 5000, statusReason });
    if (attempt === most)
      addEvent(exitCode === 0 ? 'SUCCEEDED' : 'FAILED', { statusReason, container: { exitCode } });
  }
  return random() < 0.7 ? events : events.slice(0, 1 + Math.floor(random() * (events.length - 1)));
}

/** What is no event, in all the ways in which one can be none. */
export function malformed(random: () => number, { detail }: JobEvent): unknown {
  const { jobId: _, ...nameless } = detail;
  return pick<() => unknown>(random, [
    () => null,
    () => [],
    () => 'detail',
    () => ({}),
    () => ({ detail: null }),
    () => ({ detail: nameless }),
    () => ({ detail: { ...detail, jobId: 7 } }),
    () => ({ detail: { ...detail, jobName: { toString: 'x' } } }),
    () => ({ detail: { ...detail, status: 'DONE' } }),
    () => ({ detail: { ...detail, status: 'succeeded' } }),
    () => ({ detail: { ...detail, attempts: {} } }),
    () => ({ detail: { ...detail, attempts: [{ startedAt: 'yesterday' }] } }),
    () => ({ detail: { ...detail, container: { exitCode: '0' } } }),
    () => ({ detail: { ...detail, statusReason: 5 } }),
    () => ({ Detail: detail }),
  ])();
}

/** `count` events: those of the histories again and again until there are enough, shuffled, one in a hundred malformed. */
export function disturbed(
  random: () => number,
  histories: readonly JobEvent[][],
  count: number,
): { events: unknown[]; malformed: number } {
  const genuine = histories.flat();
  const bad = Math.round(count / 100);
  const events: unknown[] = [...genuine];
  while (events.length < count - bad) {
    const event = pick(random, genuine);
    // Of a submission that was doubled: the record names the other Batch job.
    const isDouble = random() < 0.02;
    events.push(isDouble ? { detail: { ...event.detail, jobId: randomUUID() } } : event);
  }
  const some = Array.from({ length: bad }, () => malformed(random, pick(random, genuine)));
  return { events: shuffled(random, [...events.slice(0, count - bad), ...some]), malformed: bad };
}
