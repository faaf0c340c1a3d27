import type { Environment } from '../../core/needs.ts';
import { serviceDomain } from '../../core/settings.ts';
import { requestSigner, type SignedPost } from './request-signer.ts';

/** Topic of SNS whose subscribers get mails. */
export interface MailTopic {
  /**
   * Sign the request that publishes a mail to all subscribers. It is valid for 15 minutes.
   * @param subject at most 99 characters without line breaks and control characters
   * @param text at most 256 KB
   */
  sign(subject: string, text: string): Promise<SignedPost>;
}

/**
 * Return a topic of SNS. `SNS_ENDPOINT` replaces the region's endpoint. Its one request is signed here without the
 * client of the SDK, so it is sent like the other messages of hooks: once for each attempt, with their limits.
 * @param arn such as `arn:aws:sns:eu-central-1:111122223333:mps-hooks`
 */
export function mailTopic(environment: Environment, arn: string): MailTopic {
  const region = arn.split(':')[3] ?? '';
  const url = new URL(environment['SNS_ENDPOINT'] ?? `https://sns.${region}.${serviceDomain(region)}/`);
  const signed = requestSigner('sns', region, async () => ({
    accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    ...(environment['AWS_SESSION_TOKEN'] !== undefined && {
      sessionToken: environment['AWS_SESSION_TOKEN'],
    }),
  }));
  return {
    sign(subject, text) {
      const body = new URLSearchParams({
        Action: 'Publish',
        Version: '2010-03-31',
        TopicArn: arn,
        Subject: subject,
        Message: text,
      }).toString();
      return signed(url, { 'content-type': 'application/x-www-form-urlencoded' }, body);
    },
  };
}
