import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { stageName } from '../api/rest-api.ts';

/** Add the alarms of a deployment. Send them to the email address, if there is one. */
export function addAlarms(scope: Construct, watched: Watched, email: string | undefined): void {
  const own = new Construct(scope, 'Alarms');
  const { apiName, deadLetters, tables, streamFunctions } = watched;
  const settings: AlarmSettings[] = [
    {
      id: 'DeadLetters',
      description: 'An event was not processed: see the dead-letter queue',
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
      threshold: 1,
    },
    ...apiAlarms(apiName),
    ...functionAlarms(streamFunctions),
    ...tableAlarms(tables),
    setAsideAlarm(own, watched),
  ];
  const alarms = settings.map((setting) => alarm(own, setting));
  if (email === undefined) return;
  const topic = new Topic(own, 'Topic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(email));
  for (const one of alarms) one.addAlarmAction(new SnsAction(topic));
}

/** Sources of the alarms' metrics. Each alarm has one metric: ten alarm metrics are free in an account. */
export interface Watched {
  apiName: string;
  deadLetters: IQueue;
  tables: Readonly<Record<string, ITable>>;
  /** Functions that a table's stream starts, by name. */
  streamFunctions: ReadonlyMap<string, IFunction>;
  /** Log of the functions that events and streams start. */
  log: ILogGroup;
}

interface AlarmSettings {
  id: string;
  description: string;
  metric: Metric;
  threshold: number;
  periods?: number;
}

const period = Duration.minutes(5);

function apiAlarms(apiName: string): AlarmSettings[] {
  const ofApi = (metricName: string, statistic: string) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiName: apiName, Stage: stageName },
      statistic,
      period,
    });
  return [
    {
      id: 'ServerErrors',
      description: 'Requests failed with errors of the service',
      metric: ofApi('5XXError', Stats.SUM),
      threshold: 5,
    },
    {
      id: 'SlowAnswers',
      description: 'One request in a hundred took longer than 10 s',
      metric: ofApi('Latency', Stats.p(99)),
      threshold: 10_000,
      periods: 3,
    },
  ];
}

function functionAlarms(streamFunctions: Watched['streamFunctions']): AlarmSettings[] {
  return [
    {
      id: 'FunctionThrottles',
      description:
        'Lambda refused to start functions: the account runs too many at once. Requests got 503. Request a larger quota',
      // Without dimensions, the metric counts all functions of the account in this region, as the quota does.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', statistic: Stats.SUM, period }),
      threshold: 5,
    },
    ...[...streamFunctions].map(([name, fn]) => ({
      id: `StreamAge-${name}`,
      description: `The function ${name} has not processed the stream of a table for half an hour: see its log`,
      metric: fn.metric('IteratorAge', { period, statistic: Stats.MAXIMUM }),
      threshold: Duration.minutes(30).toMilliseconds(),
    })),
  ];
}

/** The accounts table has no read alarm: each read concerns one user, and only ten alarms are free. */
const tableAlarms = (tables: Watched['tables']): AlarmSettings[] =>
  Object.entries(tables).flatMap(([name, table]) =>
    (name === 'accounts' ? (['Write'] as const) : (['Read', 'Write'] as const)).map((kind) => ({
      id: `Throttled${kind}s-${name}`,
      description: `DynamoDB refused ${kind.toLowerCase()}s of the table ${name}: one partition gets too many`,
      metric: table.metric(`${kind}ThrottleEvents`, { period, statistic: Stats.SUM }),
      threshold: 20,
    })),
  );

/** Make the alarm for unfinished work that needs an unreadable record. `logSetAside` writes the log line. */
function setAsideAlarm(scope: Construct, { log, apiName }: Watched): AlarmSettings {
  const filter = new MetricFilter(scope, 'SetAsideLines', {
    logGroup: log,
    filterPattern: FilterPattern.stringValue('$.code', '=', 'set-aside'),
    metricNamespace: apiName,
    metricName: 'SetAside',
    metricValue: '1',
  });
  return {
    id: 'SetAside',
    description: 'Work was set aside because a record cannot be read: npm run doctor -- --orphans lists it',
    metric: filter.metric({ period, statistic: Stats.SUM }),
    threshold: 1,
  };
}

function alarm(scope: Construct, { id, description, metric, threshold, periods = 1 }: AlarmSettings): Alarm {
  return new Alarm(scope, id, {
    alarmDescription: description,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
