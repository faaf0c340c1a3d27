import { expect, test } from 'vitest';
import type { HookEvent } from '../../../shared/data/hooks/hook.ts';
import { EventDescriber } from '../../../shared/hooks/describe-event.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';

test('a message leads to the page that shows what it is about', async () => {
  const service = await testService();
  const project_id = await newProject(service, await service.user('developer'));
  const describer = new EventDescriber({ ...service, now: () => new Date() });
  const linkOf = async (type: HookEvent, facts: object) => {
    const created_at = new Date().toISOString();
    const notice = {
      notice_id: 'n',
      project_id,
      type,
      subject: 's',
      facts: JSON.stringify(facts),
      created_at,
    };
    const link = (await describer.describe(notice))?.messageFor('https://mps.example/console').text.link;
    return link?.replace('https://mps.example/console#/', '').replace(project_id, 'P');
  };

  const links = await Promise.all([
    linkOf('serving.failing', { name: 'a b.onnx', version: 'original' }),
    linkOf('strategy.failed', { name: 'prune', model_name: 'a.onnx', strategy_id: 's' }),
    linkOf('sweep.ended', { name: 'wide', sweep_id: 's' }),
    linkOf('budget.reached', { name: 'wide', sweep_id: 's' }),
    linkOf('budget.warning', { name: '2026-11', amount: 5 }),
    linkOf('model.version', { name: 'digits', run_id: 'r', experiment_id: 'e' }),
    linkOf('export.ready', { export_id: 's' }),
  ]);

  expect(links).toEqual([
    'models/a%20b.onnx/serving',
    'models/a.onnx?strategy=s',
    'projects/P/sweeps/s',
    'projects/P/sweeps/s',
    'projects/P/settings',
    'projects/P/experiments/e',
    'projects/P',
  ]);
});
