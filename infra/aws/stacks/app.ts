import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { CURRENT_VERSION_EXPIRED_FLAGS, CURRENT_VERSION_FLAG_DEFAULTS, FLAGS } from 'aws-cdk-lib/cx-api';
import { runMain } from '../../command/run-main.ts';
import { buildParts } from '../build/build-parts.ts';
import { readOptions } from '../options/deployment-options.ts';
import { addService } from './service.ts';

/** The CDK app of `cdk.json`: write the templates and assets of the service to the CDK's output folder. */
async function synthesize(): Promise<number> {
  const app = new App({ context: flagDefaults });
  const options = readOptions(app.node.getAllContext());
  await mkdir(join(root, '.build'), { recursive: true });
  const folder = await mkdtemp(join(root, '.build/cloud-'));
  try {
    addService(app, await buildParts(root, folder), options);
    app.synth();
    return 0;
  } finally {
    // The CDK has copied the assets to its own folder.
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * CDK feature flags with the values that version 2 gives to unset flags. Those of `cdk.json` override them. The
 * templates are the same without them, but the CDK reports unset flags after each synthesis.
 */
const flagDefaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.keys(FLAGS)
    .filter((name) => !CURRENT_VERSION_EXPIRED_FLAGS.includes(name))
    .map((name) => [name, CURRENT_VERSION_FLAG_DEFAULTS[name] ?? false]),
);

const root = join(import.meta.dirname, '../../..');

await runMain(synthesize);
