import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareImageContext } from './context.ts';

// `npm run image -- [--tag <name>] [--base-image <image>]`: builds the job image as a deployment does.
const { values } = parseArgs({
  options: {
    tag: { type: 'string', default: 'model-project-service-jobs' },
    /** A Debian with the project's Node and npm in it, in place of the one that the Dockerfile names. */
    'base-image': { type: 'string' },
  },
});

const root = join(import.meta.dirname, '../..');
const context = join(root, '.build/job-image');
await prepareImageContext(root, context);
const base = values['base-image'];
const { status, error } = spawnSync(
  'docker',
  [
    ...['build', '--platform', 'linux/amd64', '--tag', values.tag],
    ...(base === undefined ? [] : ['--build-arg', `BASE_IMAGE=${base}`]),
    context,
  ],
  { stdio: 'inherit' },
);
if (error !== undefined)
  process.stderr.write(`No image was built: docker cannot be run (${error.message}).\n`);
process.exit(status ?? 1);
