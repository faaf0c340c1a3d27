import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';

/** Name of the topic to which hooks of the format `mail` publish. */
export const mailTopicName = ({ name }: Pick<DeploymentOptions, 'name'>): string => `${name}-hooks`;

/** Add the topic of mails and its subscriptions, if the deployment names addresses. SNS asks each to confirm. */
export function addHookMail(scope: Construct, options: Pick<DeploymentOptions, 'name' | 'hookMail'>): void {
  if (options.hookMail.length === 0) return;
  const topic = new Topic(scope, 'HookMail', { topicName: mailTopicName(options), enforceSSL: true });
  for (const address of options.hookMail) topic.addSubscription(new EmailSubscription(address));
}
