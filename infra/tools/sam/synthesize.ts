import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { SynthesizedTemplate } from './local-template.ts';

const Settings = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** The stacks of which the API consists. */
const parts = ['functions', 'api'] as const;

async function readTemplate(file: string): Promise<SynthesizedTemplate> {
  return SynthesizedTemplate.parse(JSON.parse(await readFile(file, 'utf8')));
}

/**
 * Synthesizes the stacks into `folder`, as the CDK's command line does, which passes the folder in these two
 * variables. Needs no account. Returns the templates of the API and of its functions.
 * @throws CommandError where the synthesis fails; it prints the reason itself
 */
export async function synthesize(root: string, folder: string): Promise<SynthesizedTemplate[]> {
  await rm(folder, { recursive: true, force: true });
  const { context } = Settings.parse(JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8')));
  const variables = {
    CDK_OUTDIR: folder,
    CDK_CONTEXT_JSON: JSON.stringify({
      ...context,
      // Where the code of each function lies; without the metadata sam would look for it in a bucket.
      'aws:cdk:enable-asset-metadata': true,
      'aws:cdk:enable-path-metadata': true,
    }),
  };
  const { status } = spawnSync(process.execPath, [join(root, 'infra/aws/stacks/app.ts')], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new CommandError('The stacks could not be synthesized.');
  const name = typeof context['name'] === 'string' ? context['name'] : 'model-project-service';
  return Promise.all(parts.map((part) => readTemplate(join(folder, `${name}-${part}.template.json`))));
}
