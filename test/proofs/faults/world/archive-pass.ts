import { event as archive } from '../../../../functions/events/archive.event.ts';
import { createLogger } from '../../../../shared/core/log.ts';
import type { Service } from './service.ts';

/** One run of the worker that continues exports and imports of projects. */
export async function archivePass(service: Service): Promise<void> {
  const log = createLogger('error', (line) => process.stderr.write(line), {});
  await archive.run({ seconds: 60 }, { ...service, now: () => new Date(), log });
}
