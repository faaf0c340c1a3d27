import { publishMail } from '../../../shared/aws/needs.ts';
import { putDelivery, putPending, requireDelivery } from '../../../shared/data/hooks/delivery.ts';
import { findLane, joinLane } from '../../../shared/data/hooks/delivery-lane.ts';
import { readHooks } from '../../../shared/data/hooks/hook.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { readForHooks } from '../../../shared/hooks/deliver-notices.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { deliverNow, requireEnabled } from './deliver-now.ts';
import { DeliveryAnswer, deliveryPath, requireHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'redeliverMessage',
  method: 'POST',
  path: '/projects/{project_id}/hooks/{name}/deliveries/{delivery_id}/redeliver',
  summary: 'Send a message to a hook once more',
  description: 'With the same id, also if it was delivered. Answers with the delivery after the attempt.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, accounts: readForHooks, mail: publishMail },
  input: { path: deliveryPath },
  work: 'page: as testHook',
  repeatable: true,
  output: { 200: DeliveryAnswer },
  problems: ['not-found', 'conflict'],

  async handle({ path: { project_id, name, delivery_id } }, context) {
    const { records, now } = context;
    const hook = requireHook(await readHooks(records, project_id), name);
    const ids = { project_id, hook_id: hook.hook_id, delivery_id };
    const delivery = await requireDelivery(records, ids, now());
    requireEnabled(hook);
    const pending = { ...delivery, status: 'pending' as const, ended_at: null };
    const time = now().toISOString();
    await retryOnConflict(async () => {
      await records.write(
        putDelivery(pending),
        putPending(hook.hook_id, {
          delivery_id,
          subject: delivery.subject,
          tries: 0,
          since: time,
          due_at: time,
        }),
        joinLane(await findLane(records, hook.hook_id), ids, now(), true),
      );
    });
    return deliverNow(context, pending);
  },
});
