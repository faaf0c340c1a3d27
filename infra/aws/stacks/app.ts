import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { runMain } from '../../command/run-main.ts';
import { buildParts } from '../build/build-parts.ts';
import { readOptions } from '../options/deployment-options.ts';
import { flagDefaults } from './flag-defaults.ts';
import { addService } from './service.ts';

const root = join(import.meta.dirname, '../../..');

/** The CDK app of `cdk.json`: writes the templates and assets of the service to the CDK's output folder. */
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

await runMain(synthesize);
