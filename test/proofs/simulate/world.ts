import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { invoke } from '../../../infra/local/gateway/invoke.ts';
import { makeProxyEvent } from '../../../infra/local/gateway/make-proxy-event.ts';
import { routeOf } from '../../../infra/service/routes.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings, type Settings } from '../../../shared/core/settings.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { createUser, type User } from '../../../shared/data/accounts/user.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { type Handler, lambda } from '../../../shared/http/pipeline/lambda.ts';
import { BatchModel, type ModelJob } from './batch-model.ts';
import { DynamoDbModel } from './dynamodb-model.ts';
import { Meter } from './meter.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface Member {
  user: User;
  bearer: string;
}

/** A request to an endpoint, by a member. */
export interface Asked {
  endpoint: AnyEndpoint;
  as: Member;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: string;
}

const variable = /\{(.+?)\+?\}/g;

/** So that jobs are charged to the month of their project and user. */
const prices = { fargate: { base: 0.006, vcpu: 0.04, gib: 0.005 }, nodes: [] };

/** Number of worlds in this process. */
let made = 0;

/** A deployment in virtual time: the real functions on models of DynamoDB and Batch. */
export class World {
  readonly clock: VirtualClock;
  readonly meter: Meter;
  readonly batch: BatchModel;
  readonly records: TableWriter<'records'>;
  /** Run a state-change event of Batch through its function. */
  readonly deliver: (event: unknown) => Promise<void>;
  /** Run a pass of the reconciler. */
  readonly reconcile: (event: unknown) => Promise<void>;
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: Settings;
  readonly #accounts: TableWriter<'accounts'>;
  readonly #handlers = new Map<AnyEndpoint, Handler>();

  constructor(
    clock: VirtualClock,
    limits: Readonly<Record<string, string>>,
    runJob: (world: World, job: ModelJob) => void,
  ) {
    this.clock = clock;
    this.meter = new Meter(() => clock.now);
    made += 1;
    this.environment = {
      // A process has one client for each region, and jobs of the scenarios before go on in their own world.
      AWS_REGION: `world-${made}`,
      ACCOUNTS_TABLE: 'accounts',
      RECORDS_TABLE: 'records',
      BUCKET: 'bucket',
      LOG_LEVEL: 'error',
      PRICES: JSON.stringify(prices),
      ...limits,
    };
    this.settings = readSettings(this.environment);
    const client = dynamoDb(this.environment);
    Object.assign(client, { send: new DynamoDbModel(clock, this.meter).send });
    this.batch = new BatchModel(clock, this.meter, (job) => runJob(this, job));
    Object.assign(batch(this.environment), { send: this.batch.send });
    this.records = tableWriter(client, 'records', 'records');
    this.#accounts = tableWriter(client, 'accounts', 'accounts');
    this.deliver = this.#billed(taskHandler(jobStateChanged, this.environment));
    this.reconcile = this.#billed(taskHandler(reconcile, this.environment));
  }

  #billed(run: (event: unknown) => Promise<unknown>): (event: unknown) => Promise<void> {
    return async (event) => {
      const began = this.clock.now;
      await run(event);
      this.meter.billFunction(began);
    };
  }

  /** A new user with a token; no password is hashed. */
  async member(account_type: User['account_type'], index: number): Promise<Member> {
    const user: User = {
      user_id: newId(),
      username: `user-${index}`,
      account_type,
      created_at: new Date().toISOString(),
      version: 1,
      credentials_version: 1,
    };
    await createUser(this.#accounts, user, 'no password');
    const options = { token_id: newId(), now: new Date(), seconds: 43_200, name: null };
    const { bearer } = await issueToken(this.#accounts, user, options);
    return { user, bearer };
  }

  /** Send a request through its function, as API Gateway does. */
  async ask({
    endpoint,
    as,
    path = {},
    query = {},
    body = '',
  }: Asked): Promise<{ status: number; body: string }> {
    let handler = this.#handlers.get(endpoint);
    if (handler === undefined) {
      handler = lambda(endpoint, this.environment);
      this.#handlers.set(endpoint, handler);
    }
    const { resource } = routeOf(endpoint);
    const names = [...endpoint.path.matchAll(variable)].map(([, name]) => name ?? '');
    const routed = [...resource.matchAll(variable)].map(([, name]) => name ?? '');
    const headers: [string, string][] = [['Authorization', `Bearer ${as.bearer}`]];
    if (body !== '') headers.push(['Content-Type', 'application/yaml']);
    const request = {
      method: endpoint.method,
      path: endpoint.path.replace(variable, (_, name: string) => path[name] ?? ''),
      query: new URLSearchParams(query).toString(),
      headers,
      body: Buffer.from(body),
      sourceIp: '192.0.2.1',
    };
    const parameters = Object.fromEntries(
      names.map((name, index) => [routed[index] ?? '', path[name] ?? '']),
    );
    const event = makeProxyEvent(request, resource, parameters);
    const began = this.clock.now;
    const result = await invoke({ name: endpoint.name, handler }, event);
    this.meter.billed.requests += 1;
    this.meter.billFunction(began);
    const text = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    return { status: result.statusCode, body: text };
  }
}
