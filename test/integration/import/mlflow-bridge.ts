import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { endpoint } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { type RequestMethod, servedMethods } from '../../../shared/http/definition/request-method.ts';
import type { TestService, TestUser } from '../../support/service.ts';

const isMethod = (method: string): method is RequestMethod =>
  servedMethods(endpoint.method).some((one) => one === method);

/**
 * MLflow's API of a test service as one user, behind a port. `refuse` and `lose` name a path whose next call, or answer, gets nowhere.
 * @param cut says of each call whether its connection breaks before the service has it, or before the answer
 */
export async function mlflowBridge(
  service: TestService,
  as: TestUser,
  cut: () => 'before' | 'after' | undefined = () => undefined,
) {
  const refused = new Set<string>();
  const lost = new Set<string>();
  const filters: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bridge');
    const { method = '' } = request;
    filters.push(...searchParams.getAll('filter'));
    const content = await buffer(request);
    const broken = cut();
    if (broken === 'before') {
      response.destroy();
      return;
    }
    if (
      !isMethod(method) ||
      refused.delete(pathname) ||
      !/^\/(mlflow|(ajax-)?api|get-artifact)/.test(pathname)
    ) {
      response.writeHead(400).end('{}');
      return;
    }
    const answer = await service.call(endpoint, {
      method,
      // A client of the service has the address of the API below that of the service.
      path: { mlflow_path: pathname.replace(/^\/(mlflow\/(?=api\/))?/, '') },
      query: searchParams.toString(),
      headers: { 'Content-Type': request.headers['content-type'] ?? 'application/octet-stream' },
      body: content,
      as,
    });
    if (lost.delete(pathname) || broken === 'after') response.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.bytes);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    refuse: (path: string) => refused.add(path),
    lose: (path: string) => lost.add(path),
    /** Every filter that was asked for. */
    filters,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
