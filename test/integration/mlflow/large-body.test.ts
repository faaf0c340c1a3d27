import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { endpoint } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpointEnvironment } from '../../../infra/local/access/local-roles.ts';
import { startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { testCredentials } from '../../support/emulators.ts';
import { testService } from '../../support/service.ts';
import { mlflowCaller, newRun } from './mlflow-caller.ts';

test('a file that no event could hold is streamed to storage, for those who may send it', async () => {
  const service = await testService();
  const [ada, bob] = [await service.user('developer'), await service.user('developer')];
  const { experiment_id, run_id } = await newRun(mlflowCaller(service, ada));
  const handler = lambda(endpoint, endpointEnvironment(endpoint, service.environment, testCredentials));
  const gateway = await startGateway({ endpoints: [{ file: '', endpoint, handler }], port: 0 });
  try {
    const bytes = randomBytes(7_000_000);
    const url = `${gateway.url}/mlflow/api/2.0/mlflow-artifacts/artifacts/${experiment_id}/${run_id}/artifacts/in/large%20one.bin`;
    const put = (token: string) =>
      fetch(url, { method: 'PUT', body: bytes, headers: { Authorization: `Bearer ${token}` } });
    expect((await put(ada.token)).status).toBe(200);
    const found = await fetch(url, { headers: { Authorization: `Bearer ${ada.token}` } });
    const digest = (of: Uint8Array) => createHash('sha256').update(of).digest('hex');
    expect(digest(new Uint8Array(await found.arrayBuffer()))).toBe(digest(bytes));
    const refused = await put(bob.token).then(
      ({ status }) => status,
      // The answer comes before the body, so the connection may be closed first.
      () => 403,
    );
    expect(refused).toBe(403);
  } finally {
    await gateway.close();
  }
});
