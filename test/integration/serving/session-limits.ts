import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
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
    ...more,
  };
}

/** The bucket of a service; with `bytes` every object holds these. */
export function objectsOf({ environment }: TestService, bytes?: Uint8Array): Pick<ObjectReader, 'read'> {
  if (bytes !== undefined) return { read: async () => Readable.from([bytes]) };
  return readObjects.open({ environment, settings: readSettings(environment) });
}

/** Kill the processes that work in a folder, as a host without memory does. @returns how many */
export function killProcessesIn(folder: string): number {
  let killed = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) continue;
      process.kill(Number(pid), 'SIGKILL');
      killed += 1;
    } catch {
      // It has ended, or belongs to somebody else.
    }
  }
  return killed;
}
