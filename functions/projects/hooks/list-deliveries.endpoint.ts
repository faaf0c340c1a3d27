import * as z from 'zod';
import { listDeliveries } from '../../../shared/data/hooks/delivery.ts';
import { readHooks } from '../../../shared/data/hooks/hook.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { parseMessage } from '../../../shared/hooks/message.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { DeliveryAnswer, hookPath, requireHook, showDelivery } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'listDeliveries',
  method: 'GET',
  path: '/projects/{project_id}/hooks/{name}/deliveries',
  summary: 'Messages to a hook of the last 30 days, newest first',
  description: 'Each with its latest attempts, and why they failed.',
  allow: 'viewer',
  project: 'viewer',
  right: 'none',
  needs: { records: readRecords },
  input: { path: hookPath, query: z.strictObject(paging) },
  work: 'page: the limit of every list',
  output: { 200: z.array(DeliveryAnswer) },
  problems: ['not-found'],

  async handle({ path: { project_id, name }, query }, { records, now }) {
    const { hook_id } = requireHook(await readHooks(records, project_id), name);
    return answerList(query, {
      // A message may have 150 KB, and only its title is shown.
      fetch: ({ limit, after }) =>
        listDeliveries(records, { project_id, hook_id }, { limit: Math.min(limit, 100), after }, now()),
      keyOf: ({ delivery_id }) => delivery_id,
      show: (delivery) => showDelivery(delivery, parseMessage(delivery.message).text.title),
    });
  },
});
