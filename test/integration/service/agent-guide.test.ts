import { expect, test } from 'vitest';
import { tools } from '../../../cli/mcp/serve-mcp.ts';
import { endpoint as readAgentGuide } from '../../../functions/service/read-agent-guide.endpoint.ts';
import { endpoint as readCommand } from '../../../functions/service/read-command.endpoint.ts';
import { testService } from '../../support/service.ts';

test('the guide for agents names every tool, and the skill no other', async () => {
  const service = await testService();

  const guide = await service.call(readAgentGuide);
  const skill = await service.call(readCommand, { path: { file: 'SKILL.md' } });

  const names = tools.map(({ name }) => name);
  expect([guide.status, skill.status]).toEqual([200, 200]);
  expect(names.filter((name) => !guide.text.includes(`\`${name}\``))).toEqual([]);
  const steps = [...skill.text.matchAll(/^\d\. `(\w+)`/gm)].map(([, name]) => name);
  expect(steps.length).toBeGreaterThan(5);
  expect(names).toEqual(expect.arrayContaining(steps));
});
