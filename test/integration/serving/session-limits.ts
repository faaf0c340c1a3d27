import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { readObjects } from '../../../shared/aws/needs.ts';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import type { SessionLimits } from '../../../shared/serving/sessions/model-sessions.ts';
import type { TestService } from '../../support/service.ts';

/** Limits of sessions in a folder of their own, which goes with the test. */
export function sessionLimits(more: Partial<SessionLimits> = {}): SessionLimits {
  const folder = mkdtempSync(join(tmpdir(), 'sessions-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    program: join(import.meta.dirname, '../../../shared/serving/sessions/session-program.ts'),
    folder,
    memoryBytes: 2 ** 30,
    diskBytes: 2 ** 28,
    timeLimit: 20_000,
    hidden: [],
    ...more,
  };
}

/** The bucket of a service; with `bytes` every object holds these. */
export function objectsOf({ environment }: TestService, bytes?: Uint8Array): Pick<ObjectReader, 'read'> {
  if (bytes !== undefined) return { read: async () => Readable.from([bytes]) };
  return readObjects.open({ environment, settings: readSettings(environment) });
}

/** Kill the processes of models, as a host without memory does. @returns how many */
export function killSessions(signal: NodeJS.Signals = 'SIGKILL'): number {
  let killed = 0;
  for (const pid of sessionPids()) {
    try {
      process.kill(pid, signal);
      killed += 1;
    } catch {
      // It has ended.
    }
  }
  return killed;
}

/** Return the number of processes of models. */
export const sessionsRunning = (): number => sessionPids().length;

/** Return the variables of the processes of models. */
export const sessionVariables = (): string[] =>
  sessionPids().flatMap((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));

function sessionPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return words.startsWith(process.execPath) && words.includes('session-program') && isDescendant(pid);
      } catch {
        // It has ended, or belongs to somebody else.
        return false;
      }
    });
}

function isDescendant(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return parent === process.pid || (parent > 1 && isDescendant(parent));
}
