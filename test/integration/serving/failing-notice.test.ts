import { afterAll, beforeAll, expect, test } from 'vitest';
import { findServing, putServing } from '../../../shared/data/models/serving.ts';
import { hookedProject, type Receiver, startReceiver } from '../hooks/hooked-project.ts';
import { ask, serve } from './served-model.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

test('a version that is taken out of service is told once to the project whose training made its model', async () => {
  const { service, owner, project_id, put, deliver } = await hookedProject(receiver);
  await serve(service, owner, 'crashing.onnx', {}, {}, 'crashing.onnx');
  const serving = await findServing(service.records, 'crashing.onnx');
  if (serving === undefined) throw new Error('not served');
  await service.records.write(putServing({ ...serving, project_id, version: serving.version + 1 }, serving));
  const set = await put({ events: ['serving.failing'] });
  const halves = { name: 'x', shape: [4, 8, 32], datatype: 'FP16', data: Array<number>(1024).fill(1) };

  const told: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    await ask(service, 'crashing.onnx', { inputs: [halves] }, { as: owner });
    await deliver();
    told.push(receiver.received.length);
  }

  expect(set.status, set.text).toBe(200);
  expect(told).toEqual([0, 0, 1, 1]);
  expect(receiver.received[0]?.json).toMatchObject({
    type: 'serving.failing',
    data: { project_id, name: 'crashing.onnx', version: 'original' },
  });
  expect(receiver.received[0]?.json.data.reason).toMatch(
    /^The version original was taken out: 3 requests ended its process\. The last one: .*SIGSEGV/,
  );
});
