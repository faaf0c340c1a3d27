import { expect } from 'vitest';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { usualEvents } from '../../../shared/hooks/usual-events.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import type { TestService, TestUser } from '../../support/service.ts';
import { json } from '../users/body.ts';

/**
 * Set a hook with the events that nobody chose. Nobody listens at its receiver.
 * @returns the events of its messages so far, oldest first
 */
export async function usualHook(
  { call, environment, developer: as }: TestService & { developer: TestUser },
  project_id: string,
): Promise<() => Promise<string[]>> {
  const hook = { path: { project_id, name: 'usual' }, as };
  const body = { url: 'https://hooks.invalid/x', format: 'slack', events: usualEvents };
  const set = await call(putHook, { ...json(body), ...hook });
  expect(set.status, set.text).toBe(200);
  return async () => {
    await taskHandler(notify, environment)({ repeats: true });
    const deliveries: { type: string }[] = (await call(listDeliveries, hook)).json;
    return deliveries.map(({ type }) => type).toReversed();
  };
}
