import { Duration, type Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { type EventPattern, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  CfnEventInvokeConfig,
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IEventSourceDlq,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { WatchedList } from '../../../../shared/data/lists/watched-list.ts';
import type { TableName } from '../../../../shared/data/table/table.ts';
import { type BatchNames, queueNames } from '../batch-names.ts';
import type { ServiceFunction } from '../service-function.ts';

/** Start a function by events. Undelivered and failed events become dead letters. */
export function startByEvents(fn: ServiceFunction, eventPattern: EventPattern, deadLetters: IQueue): void {
  const { lambda } = fn;
  new Rule(fn, 'Rule', {
    eventPattern,
    targets: [
      new FunctionTarget(lambda, {
        deadLetterQueue: deadLetters,
        maxEventAge: Duration.hours(eventHours),
        retryAttempts: 10,
      }),
    ],
  });
  retryEvents(fn, deadLetters);
}

/** Repeat events whose function failed. Those that fail for hours become dead letters. */
export function retryEvents(fn: ServiceFunction, deadLetters: IQueue): void {
  new CfnEventInvokeConfig(fn, 'OnFailure', {
    functionName: fn.lambda.functionName,
    qualifier: '$LATEST',
    maximumEventAgeInSeconds: Duration.hours(eventHours).toSeconds(),
    maximumRetryAttempts: retries,
    destinationConfig: { onFailure: { destination: deadLetters.queueArn } },
  });
}

/** Hours after which an event that no function accepted becomes a dead letter. */
const eventHours = 2;

const retries = 2;

/** Repeat no call that failed or waited for a minute: a later pass does the same. */
export function forgetFailedCalls(fn: ServiceFunction): void {
  new CfnEventInvokeConfig(fn, 'OnFailure', {
    functionName: fn.lambda.functionName,
    qualifier: '$LATEST',
    maximumEventAgeInSeconds: 60,
    maximumRetryAttempts: 0,
  });
}

/** Return the events that start functions of `functions/events`, by name. */
export function eventsOf(stack: Stack, names: BatchNames): Record<string, EventPattern> {
  const queueArn = (resourceName: string) =>
    stack.formatArn({ service: 'batch', resource: 'job-queue', resourceName });
  return {
    jobStateChanged: {
      source: ['aws.batch'],
      detailType: ['Batch Job State Change'],
      detail: { jobQueue: queueNames(names).map(queueArn) },
    },
  };
}

/** Return the statements that a function needs to read the stream of a table. */
export const streamStatements = ({ tableStreamArn }: ITable): PolicyStatement[] => [
  new PolicyStatement({
    actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
    resources: [tableStreamArn ?? ''],
  }),
  new PolicyStatement({ actions: ['dynamodb:ListStreams'], resources: ['*'] }),
];

/** How long Lambda collects changes of a list before it starts the function: the maximum of Lambda. */
const watchMinutes = 5;

/**
 * Retries of a pass that could not even change its lists, or fails for hours. Other failures wait for the next pass. Lambda waits
 * longer from retry to retry.
 */
const streamRetries = 30;

/**
 * Start a function within minutes of a change of one of these lists, and retry for up to two hours. This is free
 * without changes: Lambda reads table streams without charge, while a poll would have to read the lists.
 */
export function startByLists(
  fn: ServiceFunction,
  lists: readonly WatchedList[],
  tables: Readonly<Record<TableName, ITable>>,
  deadLetters: IQueue,
): void {
  const onFailure: IEventSourceDlq = { bind: () => ({ destination: deadLetters.queueArn }) };
  for (const name of new Set(lists.map(({ table }) => table))) {
    // One mapping per stream starts the function for all its lists. Lambda allows five filters, so lists that start the
    // function by the same changes share one.
    const ofTable = lists.filter(({ table }) => table === name);
    new EventSourceMapping(mappingScope(fn), `Watch-${name}`, {
      target: fn.lambda,
      eventSourceArn: tables[name].tableStreamArn ?? '',
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 1000,
      maxBatchingWindow: Duration.minutes(watchMinutes),
      maxRecordAge: Duration.hours(eventHours),
      retryAttempts: streamRetries,
      filters: [...Map.groupBy(ofTable, ({ startsByExpiry = false }) => startsByExpiry)].map(
        ([startsByExpiry, alike]) =>
          FilterCriteria.filter({
            eventName: FilterRule.or('INSERT', 'MODIFY', ...(startsByExpiry ? ['REMOVE'] : [])),
            dynamodb: {
              Keys: { pk: { S: alike.flatMap(({ partitions: [first] }) => FilterRule.beginsWith(first)) } },
            },
          }),
      ),
      onFailure,
    });
  }
}

/**
 * Names under which an earlier release deployed functions that lists start. Their mappings keep the ids in the template, so
 * that CloudFormation points them to the renamed function and they read on. A new mapping would read the changes of a day
 * again, as the third reader of its stream.
 */
const earlierNames: Readonly<Record<string, string>> = { backgroundPass: 'sweep' };

function mappingScope(fn: ServiceFunction): Construct {
  const { id, scope = fn } = fn.node;
  const earlier = earlierNames[id];
  if (earlier === undefined) return fn;
  return (scope.node.tryFindChild(earlier) as Construct | undefined) ?? new Construct(scope, earlier);
}
