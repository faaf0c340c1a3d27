import { join } from 'node:path';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { accountsTable, recordsTable } from '../../../infra/local/start/function-environment.ts';
import { startBareServer } from './bare-process.ts';
import { type Figure, type FigureOptions, figure, rounded } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { type Comparison, compare, type Target, type Targets, warmUp } from './load.ts';
import { callerKeys, newProject, projectItems, projectKeys, projectText } from './project-records.ts';
import { startService } from './service-process.ts';

const listed = 100;
const blocks = { turns: 5, seconds: 1 };
const warmSeconds = 4;
const connectionCounts = [1, 16];

interface Operation {
  what: string;
  targets: Targets;
  /** Bounds of the ratios. */
  p50?: FigureOptions;
  perSecond?: FigureOptions;
}

/** Our whole service and the bare server, on one DynamoDB engine. */
async function prepare({ folder, started }: Bench): Promise<Operation[]> {
  const engine = await startDynamoDb(join(folder, 'records.db'));
  started.defer(() => engine.close());
  const service = await startService(join(folder, 'data'), { DYNAMODB_ENDPOINT: engine.url });
  started.defer(() => service.stop());
  const { client, token, user_id } = await service.signIn();
  const create = () => client.call<typeof createProject>('POST /projects/', { query: projectText });
  const { project_id } = await create();
  for (let count = 1; count < listed; count += 1) await create();
  const model = newProject(user_id);
  const bareOptions = {
    endpoint: engine.url,
    accountsTable,
    recordsTable,
    caller: await callerKeys(token),
    project: projectKeys(project_id),
    projects: projectKeys(project_id)[0]?.pk ?? '',
    created: await projectItems(model),
    createdId: model.project_id,
  };
  const bare = await startBareServer(join(folder, 'bare'), bareOptions, started);

  const pair = (method: Target['method'], path: string, barePath: string): Targets => {
    const headers = { Authorization: `Bearer ${token}` };
    return {
      first: { method, headers, url: `${service.url}${path}` },
      second: { method, headers, url: `${bare}${barePath}` },
    };
  };
  const query = new URLSearchParams(projectText).toString();
  return [
    {
      what: 'GET one project',
      targets: pair('GET', `/projects/${project_id}`, '/project'),
      p50: { atMost: 1.4 },
      perSecond: { atLeast: 0.7 },
    },
    { what: `list of ${listed} projects`, targets: pair('GET', `/projects/?limit=${listed}`, '/list') },
    { what: 'create a project', targets: pair('POST', `/projects/?${query}`, '/create') },
  ];
}

function figures({ what, p50, perSecond }: Operation, connections: number, found: Comparison): Figure[] {
  const { first, second, ratio } = found;
  const at = `${what}, ${connections} conn.`;
  const milliseconds = (value: number) => `${value.toFixed(2)} ms`;
  return [
    figure(`${at}: p50 over bare`, ratio.p50, '×', {
      ...p50,
      remark: `${milliseconds(first.p50)} : ${milliseconds(second.p50)}`,
    }),
    figure(`${at}: p99 over bare`, ratio.p99, '×', {
      remark: `${milliseconds(first.p99)} : ${milliseconds(second.p99)}`,
    }),
    figure(`${at}: requests/s over bare`, ratio.perSecond, '×', {
      ...perSecond,
      remark: `${rounded(first.perSecond)} : ${rounded(second.perSecond)}`,
    }),
  ];
}

/** The whole service against a bare `node:http` server that makes the same reads and writes by the same SDK. */
export const requests: Group = {
  name: 'requests',
  title: 'Requests: the service against a bare server with the same reads and writes',

  async measure(bench) {
    const found: Figure[] = [];
    for (const operation of await prepare(bench)) {
      await warmUp(operation.targets, warmSeconds);
      for (const connections of connectionCounts) {
        bench.say(`${operation.what}, ${connections} connections`);
        found.push(...figures(operation, connections, await compare(operation.targets, connections, blocks)));
      }
    }
    return found;
  },
};
