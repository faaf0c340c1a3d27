import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { auditRecords } from '../../../support/audit-records.ts';
import type { TracedCall } from '../injection/middleware.ts';
import { archivePass } from '../world/archive-pass.ts';
import { ask } from '../world/ask.ts';
import { endpoints } from '../world/endpoints.ts';
import type { Engines } from '../world/engines.ts';
import { pass } from '../world/pass.ts';
import { type Program, startProgram } from '../world/process.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';
import { witnessFolder } from '../world/witness-folder.ts';
import { auditFaults } from './audit-faults.ts';
import { leftOver } from './left-over.ts';
import type { Deed, Plot, Story } from './request-story.ts';
import type { Mark } from './strikes.ts';

export interface RequestLife {
  isHit: boolean;
  faults: string[];
  calls: TracedCall[];
}

export interface RequestLane {
  folder: string;
  engines: Engines;
  program: Program;
}

/** Nothing listens there: no story has a job. */
const noBatch = 'http://127.0.0.1:9';

/** Does the deed once more, as its client does who had no answer. */
async function repeat(service: Service, deed: Deed, { alsoAnswers = [] }: Plot): Promise<string[]> {
  if ('passAfter' in deed) {
    await pass(service, deed.passAfter);
    return [];
  }
  if ('archives' in deed) {
    await archivePass(service);
    return [];
  }
  const { endpoint, question } = deed.request;
  const { status, json } = await ask(endpoints[endpoint], service.environment, question);
  if (status < 300 || alsoAnswers.includes(status)) return [];
  return [`lost: the repetition answered ${status}: ${JSON.stringify(json)}`];
}

/** The role of the process that does a deed, and what it is given. */
function roleOf(deed: Deed): [role: string, given: unknown] {
  if ('passAfter' in deed) return ['pass', { seconds: deed.passAfter }];
  return 'archives' in deed ? ['archives', {}] : ['request', deed.request];
}

/** Has a process do the deed of a story, killed at the mark if there is one; repeats it, and lets days go by. */
export async function liveRequest(
  lane: RequestLane,
  story: Story,
  mark?: Omit<Mark, 'role'>,
): Promise<RequestLife> {
  const { folder, trace } = await witnessFolder(join(lane.folder, 'request-'));
  const service = await newService(lane.engines, noBatch);
  try {
    const plot = await story.prepare({ service, ...(await newDeveloper(service)) });
    const { deed } = plot;
    const audited = await auditRecords(service);
    const note = `${trace}.killed`;
    const kill = mark && { at: mark.at, when: mark.when, note };
    const { ended } = startProgram(lane.program, ...roleOf(deed), service.environment, {
      trace,
      ...(kill && { kill }),
    });
    const { signal, code, errors } = await ended;
    const faults = signal === null && code !== 0 ? [`the deed ended with ${code}: ${errors}`] : [];
    faults.push(...(await repeat(service, deed, plot)));
    faults.push(...auditFaults(deed, audited, await auditRecords(service)));
    faults.push(...(await plot.faults()));
    faults.push(...(await leftOver(service)));
    const lines = (await readFile(trace, 'utf8')).split('\n').filter((line) => line !== '');
    return { isHit: existsSync(note), faults, calls: lines.map((line) => JSON.parse(line)) };
  } finally {
    await removeService(service);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
