import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Need } from '../../../shared/core/needs.ts';
import { allNeeds } from '../../../shared/http/definition/definition.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { type Deployment, deployment, endpoints, events, jobs } from './synthesized.ts';

const service: Deployment = await deployment();

interface ActionRecord {
  resources: Readonly<Record<string, { required: boolean; arn: string }>>;
  /** Condition keys of its service. */
  conditions: readonly string[];
}

/** What AWS's Service Authorization Reference says of each action that is granted here. */
const authorization: { actions: Readonly<Record<string, ActionRecord>> } = JSON.parse(
  await readFile(join(import.meta.dirname, '../../fixtures/iam/service-authorization.json'), 'utf8'),
);

interface Statement {
  Effect: string;
  Action: string | string[];
  // biome-ignore lint/suspicious/noExplicitAny: an ARN is text or a function of CloudFormation's
  Resource: any;
  // biome-ignore lint/suspicious/noExplicitAny: conditions are nested records
  Condition?: any;
}

const list = <T>(one: T | T[]): T[] => (Array.isArray(one) ? one : [one]);
const actionsOf = (statements: readonly Statement[]): string[] =>
  statements.flatMap(({ Action }) => list(Action)).sort();
const text = (value: unknown): string => JSON.stringify(value) ?? '';

const roles = new Map(service.of('AWS::IAM::Role').map(({ id, Properties }) => [id, Properties]));

/** Statements of the role of a function of this name. */
const functionStatements = (name: string): Statement[] => {
  const { Role } = service.one('AWS::Lambda::Function', `${name}Function`).Properties;
  return roles.get(Role['Fn::GetAtt'][0]).Policies[0].PolicyDocument.Statement;
};

/** What each need comes to, written down a second time: what a role may do changes only on purpose. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'accounts read': ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'],
  'accounts write': [
    'dynamodb:BatchGetItem',
    'dynamodb:ConditionCheckItem',
    'dynamodb:DeleteItem',
    'dynamodb:GetItem',
    'dynamodb:PutItem',
    'dynamodb:Query',
    'dynamodb:UpdateItem',
  ],
  'objects read': ['s3:GetObject', 's3:ListBucket'],
  'objects write': [
    's3:AbortMultipartUpload',
    's3:DeleteObject',
    's3:GetObject',
    's3:ListBucket',
    's3:ListMultipartUploadParts',
    's3:PutObject',
  ],
  'accounts append': ['dynamodb:PutItem'],
  'timers set': ['iam:PassRole', 'scheduler:CreateSchedule'],
  'batch observe': ['batch:DescribeJobs', 'batch:ListJobs'],
  'batch control': [
    'batch:DescribeJobs',
    'batch:ListJobs',
    'batch:SubmitJob',
    'batch:TagResource',
    'batch:CancelJob',
    'batch:TerminateJob',
  ],
};
const ofNeed = ({ resource, level }: Need<unknown>): readonly string[] =>
  expected[`${resource === 'records' ? 'accounts' : resource} ${level}`] ?? [];

const log = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const ofStreams = [
  'dynamodb:DescribeStream',
  'dynamodb:GetRecords',
  'dynamodb:GetShardIterator',
  'dynamodb:ListStreams',
];

/** Writers of notices call the function that sends them. */
const writesNotices = ({ resource, level, scope }: Need<unknown>): boolean =>
  resource === 'records' && level === 'write' && (scope?.partitions?.includes('NOTICES') ?? true);

/** The needs of tables come to the same actions, on each its own table. */
function actionsFor(needs: readonly Need<unknown>[]): string[] {
  const calls = needs.some(writesNotices) ? ['lambda:InvokeFunction'] : [];
  return [...new Set([...needs.flatMap(ofNeed), ...calls])];
}

const distinct = (statements: readonly Statement[]): string[] => [...new Set(actionsOf(statements))];

/** Number of actions on each table. */
function byTable(statements: readonly Statement[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { Action, Resource } of statements.filter((one) => text(one.Action).includes('dynamodb:'))) {
    for (const resource of list(Resource)) {
      const table = /Accounts|Records/.exec(text(resource))?.[0].toLowerCase() ?? '';
      counts[table] = (counts[table] ?? 0) + list(Action).length;
    }
  }
  return counts;
}

function tablesOf(needs: readonly Need<unknown>[]): Record<string, number> {
  const onTables = needs.filter(({ resource }) => resource === 'accounts' || resource === 'records');
  const appends = (all: Need<unknown>[]) => all.filter(({ level }) => level === 'append').length;
  const widest = (all: Need<unknown>[]) => Math.max(0, ...all.map((need) => ofNeed(need).length));
  const reads = (expected['accounts read'] ?? []).length;
  // One statement has the reads of all parts, and a part's writes have one of their own, unless one of the whole grants as much.
  const granted = (all: Need<unknown>[]) => {
    const whole = widest(all.filter(({ scope }) => scope === undefined));
    const isWhole = all.some(({ level, scope }) => level === 'write' && scope === undefined);
    const parts = all.filter(
      (need) => need.level !== 'append' && need.scope !== undefined && ofNeed(need).length > whole,
    );
    const writes = parts.reduce((sum, need) => sum + ofNeed(need).length - reads, 0);
    return whole + (parts.length === 0 ? 0 : reads) + writes + (isWhole ? 0 : appends(all));
  };
  const grouped = Map.groupBy(onTables, ({ resource }) => resource);
  return Object.fromEntries([...grouped].map(([resource, all]) => [resource, granted(all)]));
}

test.each(endpoints.map((endpoint) => [endpoint.name, endpoint] as const))(
  'the function of %s may do exactly what its definition needs',
  (name, endpoint) => {
    const needs = allNeeds(endpoint);
    expect(distinct(functionStatements(name))).toEqual([...actionsFor(needs), ...log].sort());
    expect(byTable(functionStatements(name))).toEqual(tablesOf(needs));
  },
);

test.each(events.map((task) => [task.name, task] as const))(
  'the function of %s may do exactly what its definition needs and watches, and report its failures',
  (name, { needs, watches }) => {
    const failures = ['createFirstAdmin', 'notify'].includes(name) ? [] : ['sqs:SendMessage'];
    const streams = watches.length === 0 ? [] : ofStreams;
    const isOfStream = ({ Action }: Statement) => list(Action).some((action) => ofStreams.includes(action));
    const statements = functionStatements(name);
    expect(byTable(statements.filter((one) => !isOfStream(one)))).toEqual(tablesOf(Object.values(needs)));
    expect(distinct(statements)).toEqual(
      [...actionsFor(Object.values(needs)), ...failures, ...streams, ...log].sort(),
    );
    const named = statements.filter(isOfStream).flatMap(({ Resource }) => list(Resource));
    expect(named.map((one) => /(Accounts|Records).*StreamArn/.exec(text(one))?.[1] ?? one).sort()).toEqual([
      ...(watches.length === 0 ? [] : ['*']),
      ...[...new Set(watches.map(({ table }) => (table === 'accounts' ? 'Accounts' : 'Records')))].sort(),
    ]);
  },
);

test('the function for all other methods may write its log', () => {
  expect(actionsOf(functionStatements('anyMethod'))).toEqual(log);
});

const jobStatements = (name: string): Statement[] =>
  service.one('AWS::IAM::Policy', `${name}Policy`).Properties.PolicyDocument.Statement;

test.each(jobs.map((job) => [job.name, job] as const))(
  'the role of the job %s reaches named partitions and prefixes alone, and never the accounts',
  (name, { needs }) => {
    const statements = jobStatements(name);
    const scopes = Object.values(needs).flatMap(({ scope }) => [scope?.partitions, scope?.prefixes]);
    expect(scopes.filter((scope) => scope !== undefined)).toHaveLength(Object.keys(needs).length);
    expect(text(statements)).not.toContain('Accounts');
    for (const statement of statements) {
      if (text(statement.Action).includes('dynamodb:')) {
        const condition = statement.Condition;
        expect(condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']).not.toContain('*');
        expect(condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
      } else if (text(statement.Action).includes('ListBucket')) {
        expect(statement.Condition.StringLikeIfExists['s3:prefix']).not.toContain('*');
      } else if (text(statement.Action).includes('lambda:')) {
        expect(text(statement.Resource)).toMatch(/:function:model-project-service-notify"/);
      } else {
        expect(text(statement.Resource)).toMatch(/"\/[a-z]+\/\*"/);
      }
    }
  },
);

const isOn = (table: 'Accounts' | 'Records', { Resource }: Statement): boolean =>
  new RegExp(`${table}[^/]*Arn`).test(text(Resource)) && !text(Resource).includes('StreamArn');

/** Names of the functions that have an action on each pattern of partitions of a table; `*` is the whole table. */
function reachOf(table: 'Accounts' | 'Records', action: string): Map<string, string[]> {
  const reach = new Map<string, string[]>();
  for (const { name } of [...endpoints, ...events]) {
    const statements = functionStatements(name).filter(
      (one) => isOn(table, one) && text(one.Action).includes(`dynamodb:${action}`),
    );
    const patterns = statements.flatMap(
      ({ Condition }) => Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? ['*'],
    );
    for (const pattern of new Set<string>(patterns))
      reach.set(pattern, [...(reach.get(pattern) ?? []), name].sort());
  }
  return reach;
}

test('passwords and the key of secrets are reached by the functions that check or use them', () => {
  const reach = reachOf('Accounts', '');
  expect(reach.get('*')).toBeUndefined();
  expect(reach.get('PASSWORD#*')).toEqual([
    'changePassword',
    'createFirstAdmin',
    'createSession',
    'createToken',
    'createUser',
    'deleteUser',
    'serveMlflow',
  ]);
  expect(reach.get('CI_TRUSTS#*')).toEqual([
    'backgroundPass',
    'createTrust',
    'deleteTrust',
    'deleteUser',
    'exchangeToken',
  ]);
  expect(
    ['ISSUER#*', 'ASSERTION#*', 'IDENTITY#*', 'SIGN_IN_KEY'].map((pattern) => reach.get(pattern)),
  ).toEqual([
    ['exchangeToken', 'finishSignIn', 'redeemSignIn'],
    ['exchangeToken'],
    ['backgroundPass', 'deleteUser', 'finishSignIn', 'redeemSignIn'],
    ['finishSignIn', 'linkAccount', 'redeemSignIn', 'startSignIn'],
  ]);
  expect(reach.get('VARIABLES_KEY')).toEqual([
    'backgroundPass',
    'cancelExperiment',
    'cancelExperiments',
    'cancelPruneStrategy',
    'cancelQuantizeStrategy',
    'cancelSweep',
    'checkExport',
    'createExport',
    'createPruneStrategy',
    'createQuantizeStrategy',
    'createSweep',
    'createTrial',
    'deleteSweep',
    'jobStateChanged',
    'notify',
    'pauseSweep',
    'putHook',
    'putVariable',
    'putVariables',
    'redeliverMessage',
    'rerunExperiment',
    'resumeSweep',
    'retrySweep',
    'runSchedule',
    'schedules',
    'testHook',
    'trainProject',
    'trainProjectRemote',
    'updateSweep',
  ]);
});

test('functions that answer strangers write no whole table', () => {
  const reach = reachOf('Records', 'PutItem');
  const strangers = endpoints.filter(({ allow }) => allow === 'anyone').map(({ name }) => name);
  expect(nonEmpty(strangers).filter((name) => reach.get('*')?.includes(name))).toEqual([]);
});

test('the API of MLflow writes what its clients record, and no job, budget, member, secret or served model', () => {
  const written = [...reachOf('Records', 'PutItem')].filter(([, names]) => names.includes('serveMlflow'));
  expect(written.map(([pattern]) => pattern).sort()).toEqual([
    'AUDIT#*',
    'CATALOGUE#*',
    'COUNTERS#*',
    'EXPERIMENTS#*',
    'FIRST_CRITERION#*',
    'JOB#*',
    'LISTS',
    'LOGGED_MODELS#*',
    'LOGGED_MODEL_FILES#*',
    'MODEL_VERSIONS',
    'NOTICES',
    'OWNED#*',
    'PROJECTS',
    'PROJECTS#*',
    'PROJECT_NAMES#*',
    'PURGES',
    'REGISTERED_MODELS',
    'RETAINED',
    'TRACKING#*',
  ]);
});

test('a training only checks that its project is there, as nothing else of its partition', () => {
  const onProjects = jobStatements('train').filter((statement) =>
    text(statement.Condition).includes('PROJECTS'),
  );
  expect(actionsOf(onProjects)).toEqual(['dynamodb:ConditionCheckItem']);
  // Without a key in the request, the condition on keys alone would match.
  expect(onProjects[0]?.Condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
});

/** Every statement of every role of the service's own. */
const all: Statement[] = [
  ...service
    .of('AWS::IAM::Role')
    .flatMap(({ Properties }) => Properties.Policies ?? [])
    .flatMap((policy) => policy.PolicyDocument.Statement),
  ...service.of('AWS::IAM::Policy').flatMap(({ Properties }) => Properties.PolicyDocument.Statement),
];

test('actions are named one by one, without wildcards, and none reads a whole table', () => {
  expect(all.length).toBeGreaterThan(100);
  for (const action of actionsOf(all)) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
  expect(actionsOf(all)).not.toContain('dynamodb:Scan');
});

/** What an ARN of a statement begins and ends with, whatever CloudFormation puts between. */
const arnText = (resource: unknown): string =>
  text(resource).replace(/\{"(?:Ref|Fn::GetAtt|Fn::ImportValue)":(?:\[[^\]]*\]|"[^"]*")\}/g, '');

/** The resource types of an action that an ARN may be of, by what stands in it. */
function typesOf(resource: unknown, { resources }: ActionRecord): string[] {
  const arn = arnText(resource);
  const kinds: Readonly<Record<string, (arn: string) => boolean>> = {
    job: (one) => /:job\/\*/.test(one),
    'job-queue': (one) => /:job-queue\//.test(one),
    'job-definition': (one) => /:job-definition\/[^:"]+"/.test(one),
    'job-definition-revision': (one) => /:job-definition\/[^:"]+:\*/.test(one),
    object: (one) => /"\/[^"]*\*"/.test(one),
  };
  return Object.keys(resources).filter((type) => kinds[type]?.(arn) ?? true);
}

test('every action is one of IAM, on all the resources that IAM asks for and on none that it does not know', () => {
  const byRole = [
    ...service
      .of('AWS::IAM::Role')
      .flatMap(({ Properties }) => Properties.Policies ?? [])
      .map((policy) => policy.PolicyDocument.Statement as Statement[]),
    ...service
      .of('AWS::IAM::Policy')
      .map(({ Properties }) => Properties.PolicyDocument.Statement as Statement[]),
  ];
  const faults = new Set<string>();
  for (const statements of byRole) {
    for (const action of new Set(actionsOf(statements))) {
      const record = authorization.actions[action];
      if (record === undefined) {
        faults.add(`${action} is not recorded`);
        continue;
      }
      const ofAction = statements.filter((one) => list(one.Action).includes(action));
      const named = ofAction.flatMap(({ Resource }) => list(Resource));
      const covered = named.flatMap((one) => {
        const types = one === '*' ? Object.keys(record.resources) : typesOf(one, record);
        if (types.length === 0 && one !== '*') faults.add(`${action} is granted on ${text(one)} for nothing`);
        return types;
      });
      for (const [type, { required }] of Object.entries(record.resources))
        if (required && !covered.includes(type)) faults.add(`${action} is not granted on any ${type}`);
      const keys = ofAction.flatMap(({ Condition = {} }) =>
        Object.values<object>(Condition).flatMap((one) => Object.keys(one)),
      );
      for (const key of keys)
        if (!record.conditions.includes(key.replace(/(?<=^aws:(?:Request|Resource)Tag\/).*/, '${TagKey}')))
          faults.add(`${action} knows no condition ${key}`);
    }
  }
  expect([...faults]).toEqual([]);
});

test('resources are named, but for what IAM allows on * alone', () => {
  const onAnything = all.filter(({ Resource }) => list(Resource).includes('*'));
  const allowed = [
    'batch:DescribeJobs',
    'batch:ListJobs',
    'dynamodb:ListStreams',
    'ecr:GetAuthorizationToken',
  ];
  expect([...new Set(actionsOf(onAnything))].sort()).toEqual(allowed);
});

test('only allowed, to Lambda, ECS, EC2, API Gateway and EventBridge Scheduler', () => {
  expect(new Set(all.map(({ Effect }) => Effect))).toEqual(new Set(['Allow']));
  const trusted = service
    .of('AWS::IAM::Role')
    .map(({ Properties }) => Properties.AssumeRolePolicyDocument.Statement[0].Principal.Service);
  expect(new Set(trusted.map((principal) => text(principal)))).toEqual(
    new Set(
      ['lambda', 'ecs-tasks', 'ec2', 'apigateway', 'scheduler'].map((name) => text(`${name}.amazonaws.com`)),
    ),
  );
});

test('ECS takes roles for tasks of this account alone', () => {
  const trusts = service
    .of('AWS::IAM::Role')
    .map(({ Properties }) => Properties.AssumeRolePolicyDocument.Statement[0])
    .filter(({ Principal }) => text(Principal).includes('ecs-tasks'));
  for (const { Condition } of nonEmpty(trusts))
    expect(Condition).toEqual({ StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
});

test('functions of pictures reach pictures alone, those of projects only what projects keep', () => {
  const objects = (name: string) =>
    text(functionStatements(name).filter(({ Action }) => text(Action).includes('s3:')));
  expect(objects('putProfilePicture')).toContain('/pictures/*');
  expect(objects('putProfilePicture')).not.toContain('/projects/*');
  expect(objects('requestSourceUpload')).toContain('/projects/*');
  expect(objects('requestSourceUpload')).not.toContain('/pictures/*');
});

test('needs of two parts of the bucket are both granted', () => {
  const statements = functionStatements('createModel').filter(({ Action }) =>
    text(Action).includes('GetObject'),
  );
  expect(statements.map(({ Resource }) => /\/[a-z]+\/\*/.exec(text(Resource))?.[0]).sort()).toEqual([
    '/models/*',
    '/projects/*',
  ]);
});

test('the function that anybody may call for inference reads what it serves and who may ask it, and nothing else', () => {
  const statements = functionStatements('serveModels').filter((one) => isOn('Records', one));
  const keys = (isWrite: boolean) =>
    statements
      .filter(({ Action }) => list(Action).some((one) => one.endsWith('PutItem')) === isWrite)
      .flatMap(({ Condition }) => Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? ['*']);

  expect([...new Set(keys(false))].sort()).toEqual([
    'HOOK_EVENTS#*',
    'MEMBERS#*',
    'NOTICES',
    'PROJECTS',
    'PROJECTS#*',
    'SERVED#*',
    'SERVING',
    'SERVING#WARM',
  ]);
  expect([...new Set(keys(true))].sort()).toEqual(['NOTICES', 'SERVED#*', 'SERVING']);
});
