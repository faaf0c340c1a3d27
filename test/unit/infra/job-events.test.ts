import { expect, test } from 'vitest';
import { onceReady } from '../../../infra/local/start/emulators/event-delivery.ts';

test('an event that comes before Batch has its address waits, so that its function finds the address', async () => {
  const environment: { BATCH_ENDPOINT?: string } = {};
  const seen: unknown[] = [];
  const ready = Promise.withResolvers<void>();
  const deliver = onceReady(ready.promise, async (event) => {
    seen.push([event, environment.BATCH_ENDPOINT]);
  });

  const delivery = deliver('ended');
  await Promise.resolve();
  environment.BATCH_ENDPOINT = 'http://127.0.0.1:1';
  ready.resolve();
  await delivery;

  expect(seen).toEqual([['ended', 'http://127.0.0.1:1']]);
});
