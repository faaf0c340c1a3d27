import { publishMail } from '../../../shared/aws/needs.ts';
import { consoleLink } from '../../../shared/client/console-link.ts';
import { requireDelivery } from '../../../shared/data/hooks/delivery.ts';
import { readHooks } from '../../../shared/data/hooks/hook.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { readForHooks } from '../../../shared/hooks/deliver-notices.ts';
import { deliveryWrites } from '../../../shared/hooks/fan-out.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { deliverNow, requireEnabled } from './deliver-now.ts';
import { DeliveryAnswer, hookPath, requireHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'testHook',
  method: 'POST',
  path: '/projects/{project_id}/hooks/{name}/test',
  summary: 'Send a test message to a hook',
  description:
    'Answers with the delivery after its first attempt. A message that fails is tried again like any other.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, accounts: readForHooks, mail: publishMail },
  input: { path: hookPath },
  work: 'page: sends messages of the hook that are due for 12 s; the worker sends the others',
  repeatable: true,
  output: { 200: DeliveryAnswer },
  problems: ['not-found', 'conflict'],

  async handle({ path: { project_id, name } }, context) {
    const { records, newId, now, caller, project } = context;
    const hook = requireHook(await readHooks(records, project_id), name);
    requireEnabled(hook);
    const delivery_id = newId();
    const { project_name } = project;
    const message = {
      type: 'hook.test',
      timestamp: now().toISOString(),
      data: { project_id, hook: name, user: caller.username },
      text: {
        title: `Test of the hook ${name}`,
        tone: 'plain' as const,
        reason: `${caller.username} asked for this message. The hook works.`,
        facts: [{ name: 'Project', value: project_name }],
        link: hook.console_url && consoleLink(hook.console_url, ['projects', project_id]),
      },
    };
    const sent = { project_id, hook, delivery_id, subject: delivery_id, message };
    await retryOnConflict(async () => {
      await records.write(...(await deliveryWrites(records, sent, now(), true)));
    });
    const ids = { project_id, hook_id: hook.hook_id, delivery_id };
    return deliverNow(context, await requireDelivery(records, ids, now()));
  },
});
