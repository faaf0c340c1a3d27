import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { LoadedTask } from '../../../service/tasks.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { batchNames } from '../batch-names.ts';
import { calledName, timerVariables } from '../function-variables.ts';
import { functionRole, grantsOf } from '../roles.ts';
import { type FunctionParts, ServiceFunction } from '../service-function.ts';
import { addAlarms } from './alarms.ts';
import { addBudget } from './budget.ts';
import { addHookMail } from './hook-mail.ts';
import { addTimers } from './timers.ts';
import {
  eventsOf,
  forgetFailedCalls,
  retryEvents,
  startByEvents,
  startByLists,
  streamStatements,
} from './triggers.ts';

/** Functions that no request starts: for events of Batch, changes of lists, and the first admin. */
export class BackgroundStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    tasks: readonly LoadedTask[],
    { resources, environment, folderOf }: FunctionParts,
    options: DeploymentOptions,
    props: StackProps,
  ) {
    super(scope, id, props);
    const log = new LogGroup(this, 'FunctionLog', {
      retention: options.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const failed = new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadLetters.queueArn] });
    const events = eventsOf(this, batchNames(options));
    const streamFunctions = new Map<string, IFunction>();

    for (const { name, watches, runtime, isCalled, isTimed, ...task } of tasks) {
      const needs = Object.values(task.needs);
      const event = events[name];
      const isStarted = event !== undefined || watches.length > 0 || isTimed;
      if (!isStarted && !isCalled && name !== firstAdminTask)
        throw new Error(`nothing starts the task ${name}`);
      const statements = [
        ...grantsOf(needs, resources),
        ...watches.flatMap(({ table }) => streamStatements(resources[table])),
        ...(isStarted ? [failed] : []),
      ];
      const fn = new ServiceFunction(this, name, {
        ...((isCalled || isTimed) && { functionName: calledName(options, name) }),
        description: `Task ${name}`,
        folder: folderOf(name),
        runtime,
        environment: { ...environment, ...timerVariables(needs, resources.timers) },
        logLevel: options.logLevel,
        log,
        role: functionRole(this, `${name}Role`, { statements, log }),
        isRecurring: watches.length > 0,
      });
      if (watches.length > 0) streamFunctions.set(name, fn.lambda);
      if (event !== undefined) startByEvents(fn, event, deadLetters);
      startByLists(fn, watches, resources, deadLetters);
      if (isCalled) forgetFailedCalls(fn);
      if (isTimed) retryEvents(fn, deadLetters);
      if (name === firstAdminTask) {
        new CfnOutput(this, 'FirstAdminFunction', { value: fn.lambda.functionName });
      }
    }
    const { accounts, records } = resources;
    const watched = {
      apiName: options.name,
      deadLetters,
      tables: { accounts, records },
      streamFunctions,
      log,
    };
    if (options.alarms) addAlarms(this, watched, options.alarmEmail);
    addBudget(this, options);
    addHookMail(this, options);
    addTimers(this, resources.timers, options);
  }
}

/** Name of the task that only IAM callers can invoke: it has no trigger. */
const firstAdminTask = 'createFirstAdmin';
