import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpoint as logExperimentMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as deleteHook } from '../../../functions/projects/hooks/delete-hook.endpoint.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as listHooks } from '../../../functions/projects/hooks/list-hooks.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as redeliver } from '../../../functions/projects/hooks/redeliver-message.endpoint.ts';
import { endpoint as testHook } from '../../../functions/projects/hooks/test-hook.endpoint.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { deliverNotices } from '../../../shared/hooks/deliver-notices.ts';
import type { SendContext } from '../../../shared/hooks/send-pending.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

/** A message as a receiver got it. */
export interface Received {
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of any format
  json: any;
}

/** How a receiver answers. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(body);

/** A receiver on this machine that answers 204 until it is told otherwise. */
export async function startReceiver() {
  const received: Received[] = [];
  const receiver = { received, answer: status(204) as Answer, host: '', url: '', close };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    received.push({ headers: request.headers as Record<string, string>, body, json: JSON.parse(body) });
    receiver.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver.url = `http://${receiver.host}/hooks/its-secret-path`;

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return receiver;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A project with an owner whose hooks may name this receiver, and a clock that tests set. */
export async function hookedProject(receiver: Receiver, more: Readonly<Record<string, string>> = {}) {
  const service: TestService = await testService({ HOOK_HOSTS: receiver.host, ...more });
  const owner: TestUser = await service.user('developer');
  const project_id = await newProject(service, owner, 'sorting');
  let later = 0;
  const now = () => new Date(Date.now() + later);
  const context: SendContext = {
    records: service.records,
    accounts: service.accounts,
    admitted: [receiver.host],
    mail: undefined,
    now,
    newId,
    log: createLogger('error', () => {}),
  };
  const path = { project_id, name: 'team' };
  const events = ['experiment.started', 'experiment.succeeded', 'experiment.failed', 'experiment.cancelled'];

  return {
    service,
    owner,
    project_id,
    context,
    /** Let time pass for the worker. */
    pass: (seconds: number) => {
      later += seconds * 1000;
    },
    put: (body: object, name = 'team') =>
      service.call(putHook, {
        ...json({ url: receiver.url, events, ...body }),
        path: { project_id, name },
        as: owner,
      }),
    hooks: async () => (await service.call(listHooks, { path: { project_id }, as: owner })).json,
    remove: () => service.call(deleteHook, { path, as: owner }),
    try: () => service.call(testHook, { path, as: owner }),
    deliveries: async () => (await service.call(listDeliveries, { path, as: owner })).json,
    again: (delivery_id: string) => service.call(redeliver, { path: { ...path, delivery_id }, as: owner }),
    deliver: (more: Partial<SendContext> = {}) => deliverNotices({ ...context, ...more }, forSeconds(30)),
    /** Record an experiment of a client, with values of a metric. */
    async begin(
      name: string,
      values: readonly number[] = [],
      metric = 'val_loss',
      rules: readonly object[] = [],
    ): Promise<string> {
      const call = { path: { project_id }, as: owner };
      const body = { name, rules };
      const { experiment_id } = (await service.call(createExperiment, { ...json(body), ...call })).json;
      const metrics = values.map((value, step) => ({ name: metric, value, step }));
      if (metrics.length > 0)
        await service.call(logExperimentMetrics, {
          ...json({ metrics }),
          path: { project_id, experiment_id },
          as: owner,
        });
      return experiment_id;
    },
    end: (experiment_id: string, outcome = 'SUCCEEDED') =>
      service.call(updateExperiment, {
        ...json({ status: outcome }),
        path: { project_id, experiment_id },
        as: owner,
      }),
  };
}
