const howToSignIn = `Set AWS_PROFILE to a profile of ~/.aws/config (after "aws sso login", where it signs in so), or
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN where there is one.`;

const howToSetRegion = `Set AWS_REGION, a region in the AWS profile, or the option "region" (-c region=eu-central-1).`;

/** Error codes of AWS for invalid and expired credentials. */
const refusedCredentials = [
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
  'InvalidAccessKeyId',
  'RequestExpired',
];

const unreachable = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'TimeoutError'];

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * An error of the AWS SDK in words that say what to do. Undefined for any other error.
 * It is known by its name: the packages of the SDK carry classes of their own.
 */
export function awsErrorText(error: Error): string | undefined {
  const { name, message } = error;
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return `No AWS credentials: ${message}\n${howToSignIn}`;
  }
  if (message === 'Region is missing') return `No AWS region.\n${howToSetRegion}`;
  if (refusedCredentials.includes(name)) {
    return `AWS refused the credentials (${name}): ${message}\n${howToSignIn}`;
  }
  if (unreachable.includes(codeOf(error)) || unreachable.includes(name)) {
    return `AWS cannot be reached: ${message}\nIs there a network, and is the region right? ${howToSetRegion}`;
  }
  return '$metadata' in error ? `AWS refused: ${message} (${name})` : undefined;
}
