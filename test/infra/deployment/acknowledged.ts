interface Acknowledged {
  rule: RegExp;
  /** Path of the construct. */
  at: RegExp;
  reason: string;
}

/** Where rules of cdk-nag's AwsSolutions pack are not followed, and why. */
export const acknowledged: readonly Acknowledged[] = [
  {
    rule: /^AwsSolutions-S1$/,
    at: /-data\/Bucket\//,
    reason:
      'Access logs would grow beside a deployment that is to cost nothing; requests for objects are signed by the service, whose own log says who asked.',
  },
  {
    rule: /^AwsSolutions-VPC7$/,
    at: /\/Network\/Vpc\//,
    reason: 'Flow logs cost money for every connection, and nothing in this network takes any from outside.',
  },
  {
    rule: /^AwsSolutions-IAM4\[Policy::.*AmazonEC2ContainerServiceforEC2Role\]$/,
    at: /\/NodeRole\//,
    reason: 'AWS keeps this policy in step with the ECS agent on the node, which alone uses the role.',
  },
  {
    rule: /^AwsSolutions-IAM4\[Policy::.*AmazonAPIGatewayPushToCloudWatchLogs\]$/,
    at: /\/Api\/CloudWatchRole\//,
    reason: 'It is the policy that API Gateway asks for to write its access log.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*\/(projects|pictures|models|strategies)\/\*\]$/,
    at: /./,
    reason: 'Keys below these prefixes are ids that are made when they are needed.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*\/downloads\/\*\]$/,
    at: /-compute\/trainPolicy\//,
    reason: 'Packages are kept by their hash, which no deployment knows in advance.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::[^/]*\/\*\]$/,
    at: /-background\/backgroundPassRole\//,
    reason: 'What is purged may lie below any prefix.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*:job-definition\/[a-z-]+:\*\]$/,
    at: /./,
    reason: 'Batch numbers the revisions of a definition; the newest is the one that was deployed.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*:job\/\*\]$/,
    at: /./,
    reason: 'Batch makes the ids of jobs; the service ends only those that it has on record.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*:schedule\/[a-z-]+\/\*\]$/,
    at: /./,
    reason: 'Timers have the ids of schedules and the times at which they are due.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::\*\]$/,
    at: /./,
    reason: 'Describe and List of Batch, List of streams, and tokens for ECR, are allowed on * alone.',
  },
  {
    rule: /^AwsSolutions-SQS3$/,
    at: /\/DeadLetters\//,
    reason: 'This is the queue of dead letters itself.',
  },
  {
    rule: /^AwsSolutions-APIG2$/,
    at: /\/Api\//,
    reason: 'Every function checks its whole input; API Gateway would refuse it in a shape of its own.',
  },
  {
    rule: /^AwsSolutions-APIG3$/,
    at: /\/Api\//,
    reason: 'A web application firewall costs money while nobody uses the service.',
  },
  {
    rule: /^AwsSolutions-APIG6$/,
    at: /\/Api\//,
    reason:
      'Execution logs hold bodies, and so passwords; the access log and those of the functions say the rest.',
  },
];
