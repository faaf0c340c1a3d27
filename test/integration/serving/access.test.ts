import { beforeAll, expect, test, vi } from 'vitest';
import { ModelSessions } from '../../../shared/serving/sessions/model-sessions.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { ask, imageInput, protocol, serve } from './served-model.ts';

let service: TestService;
let owner: TestUser;
beforeAll(async () => {
  service = await testService();
  owner = await service.user('developer');
});

const body = { inputs: [imageInput()] };

test('a model answers accounts that may read, and no strangers or guests', async () => {
  await serve(service, owner, 'usual.onnx');
  const [viewer, guest] = await Promise.all([service.user('viewer'), service.user('guest')]);

  const answers = [
    await ask(service, 'usual.onnx', body, { as: viewer }),
    await ask(service, 'usual.onnx', body, { as: guest }),
    await ask(service, 'usual.onnx', body),
    await ask(service, 'unknown.onnx', body),
    await ask(service, 'unknown.onnx', body, { as: viewer }),
    await ask(service, 'usual.onnx', body, { headers: { Authorization: 'Bearer nonsense' } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 403, 401, 401, 404, 401]);
  expect(answers[2]?.json.error).toContain('Sign in with POST /auth/token');
});

test('a model for members answers its owner and admins only, where no project made it', async () => {
  await serve(service, owner, 'members.onnx', { access: 'members' });
  const [viewer, admin] = await Promise.all([service.user('viewer'), service.user('admin')]);

  const answers = [
    await ask(service, 'members.onnx', body, { as: owner }),
    await ask(service, 'members.onnx', body, { as: admin }),
    await ask(service, 'members.onnx', body, { as: viewer }),
  ];
  const index = await protocol(service, 'repository/index', { as: viewer });

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 403]);
  expect(index.text).not.toContain('members.onnx');
});

test('a refused caller does not run the model, also after it has answered others', async () => {
  await serve(service, owner, 'ours.onnx', { access: 'members' });
  const [viewer, guest] = await Promise.all([service.user('viewer'), service.user('guest')]);
  const run = vi.spyOn(ModelSessions.prototype, 'run');
  const first = await ask(service, 'ours.onnx', body, { as: owner });

  const refused = [
    await ask(service, 'ours.onnx', body, { as: viewer }),
    await ask(service, 'ours.onnx', body, { as: guest }),
    await ask(service, 'ours.onnx', body),
  ];

  expect(first.status).toBe(200);
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 401]);
  expect(run).toHaveBeenCalledOnce();
  run.mockRestore();
});

test('a model for anyone answers strangers at its rate', async () => {
  const served = await serve(service, owner, 'open.onnx', { access: 'anyone', requests_per_second: '1' });

  const strangers = await Promise.all(Array.from({ length: 4 }, () => ask(service, 'open.onnx', body)));
  const known = await ask(service, 'open.onnx', body, { as: owner });

  expect(served.json).toMatchObject({ access: 'anyone', requests_per_second: 1 });
  expect(strangers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
  const refused = strangers.find(({ status }) => status === 429);
  expect(refused?.headers['retry-after']).toBe('1');
  expect(known.status).toBe(200);
});
