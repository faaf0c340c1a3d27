import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { stageName } from '../api/rest-api.ts';

const period = Duration.minutes(5);

/** Alarms of a deployment; ten cost nothing. They are sent to an address where there is one. */
export function addAlarms(
  scope: Construct,
  deadLetters: IQueue,
  apiName: string,
  email: string | undefined,
): void {
  const own = new Construct(scope, 'Alarms');
  const ofApi = (metricName: string, statistic: string) =>
    new Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiName: apiName, Stage: stageName },
      statistic,
      period,
    });
  const alarms = [
    alarm(own, 'DeadLetters', 'An event was not taken in: look into the queue of dead letters', 1, {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM }),
    }),
    alarm(own, 'ServerErrors', 'Requests failed for reasons of the service', 5, {
      metric: ofApi('5XXError', Stats.SUM),
    }),
    alarm(own, 'SlowAnswers', 'One request in a hundred took longer than 10 s', 10_000, {
      metric: ofApi('Latency', Stats.p(99)),
      periods: 3,
    }),
  ];
  if (email === undefined) return;
  const topic = new Topic(own, 'Topic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(email));
  for (const one of alarms) one.addAlarmAction(new SnsAction(topic));
}

function alarm(
  scope: Construct,
  id: string,
  alarmDescription: string,
  threshold: number,
  { metric, periods = 1 }: { metric: Metric; periods?: number },
): Alarm {
  return new Alarm(scope, id, {
    alarmDescription,
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
