import { expect, test } from 'vitest';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';
import { archiveLab, exported } from './archive-lab.ts';

test('hooks are told once an export is ready', async () => {
  const service = await testService();
  const as = await service.user('developer');
  const project_id = await newProject(service, as);
  const hook = { path: { project_id, name: 'team' }, as };
  const told = { url: 'https://hooks.invalid/x', format: 'slack', events: ['export.ready'] };
  await service.call(putHook, { ...hook, ...json(told) });

  await exported(archiveLab(service, as.user), project_id);
  await taskHandler(notify, service.environment)({});

  const { json: deliveries } = await service.call(listDeliveries, hook);
  expect(deliveries).toMatchObject([{ type: 'export.ready' }]);
});
