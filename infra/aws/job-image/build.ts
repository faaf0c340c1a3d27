import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { prepareImageContext } from './context.ts';

/** `npm run image`: build the job image as a deployment does. */
async function buildImage(): Promise<number> {
  const { tag, 'base-image': base } = readFlags(usage, { options }).values;
  const root = join(import.meta.dirname, '../../..');
  const context = join(root, '.build/job-image');
  await prepareImageContext(root, context);
  const { status, error } = spawnSync(
    'docker',
    [
      ...['build', '--platform', 'linux/amd64', '--tag', tag],
      ...(base === undefined ? [] : ['--build-arg', `BASE_IMAGE=${base}`]),
      context,
    ],
    { stdio: 'inherit' },
  );
  if (error !== undefined)
    throw new CommandError(`No image was built: docker cannot be run (${error.message}).`);
  return status ?? 1;
}

const usage = `Usage: npm run image -- [--tag <name>] [--base-image <image>]
  --tag         name of the image (model-project-service-jobs)
  --base-image  a Debian image with the project's Node and npm, instead of the Dockerfile's`;

const options = {
  tag: { type: 'string', default: 'model-project-service-jobs' },
  'base-image': { type: 'string' },
} as const;

await runMain(buildImage);
