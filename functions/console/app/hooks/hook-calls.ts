import type { RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteHook } from '../../../projects/hooks/delete-hook.endpoint.ts';
import type { endpoint as listDeliveries } from '../../../projects/hooks/list-deliveries.endpoint.ts';
import type { endpoint as listHooks } from '../../../projects/hooks/list-hooks.endpoint.ts';
import type { endpoint as putHook } from '../../../projects/hooks/put-hook.endpoint.ts';
import type { endpoint as redeliverMessage } from '../../../projects/hooks/redeliver-message.endpoint.ts';
import type { endpoint as testHook } from '../../../projects/hooks/test-hook.endpoint.ts';
import { all, call, page } from '../api/calls.ts';

export type Hook = RowOf<typeof listHooks>;
export type Delivery = RowOf<typeof listDeliveries>;
export type HookFields = NonNullable<RequestOf<typeof putHook>['body']>;

export const loadHooks = (project_id: string): Promise<Hook[]> =>
  all<typeof listHooks>('GET /projects/{project_id}/hooks', { path: { project_id } });

export const setHook = (project_id: string, name: string, body: HookFields) =>
  call<typeof putHook>('PUT /projects/{project_id}/hooks/{name}', { path: { project_id, name }, body });

export const removeHook = (project_id: string, name: string) =>
  call<typeof deleteHook>('DELETE /projects/{project_id}/hooks/{name}', { path: { project_id, name } });

export const tryHook = (project_id: string, name: string) =>
  call<typeof testHook>('POST /projects/{project_id}/hooks/{name}/test', { path: { project_id, name } });

/** Messages that a page shows. */
const shown = 20;

export const loadDeliveries = async (project_id: string, name: string): Promise<readonly Delivery[]> =>
  (
    await page<typeof listDeliveries>('GET /projects/{project_id}/hooks/{name}/deliveries', {
      path: { project_id, name },
      query: { limit: shown },
    })
  ).rows;

export const sendAgain = (project_id: string, name: string, delivery_id: string) =>
  call<typeof redeliverMessage>(
    'POST /projects/{project_id}/hooks/{name}/deliveries/{delivery_id}/redeliver',
    { path: { project_id, name, delivery_id } },
  );
