import { CURRENT_VERSION_EXPIRED_FLAGS, CURRENT_VERSION_FLAG_DEFAULTS, FLAGS } from 'aws-cdk-lib/cx-api';

/**
 * The feature flags of the CDK at the values that version 2 gives to flags that are not set. Those of `cdk.json` are put
 * over them. Templates are the same without them, but the CDK counts flags that are not set after each synthesis.
 */
export const flagDefaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.keys(FLAGS)
    .filter((name) => !CURRENT_VERSION_EXPIRED_FLAGS.includes(name))
    .map((name) => [name, CURRENT_VERSION_FLAG_DEFAULTS[name] ?? false]),
);
