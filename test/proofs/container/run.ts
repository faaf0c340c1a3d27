import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { containerEngine } from './engine.ts';
import { buildJobImage } from './job-image.ts';
import { samFolder } from './sam-cli.ts';
import { standInLambdaBase } from './stand-in/lambda-base.ts';

// `npm run proof -- container`: what only containers can prove.
const usage = `Usage: npm run proof -- container [arguments of vitest]
  proves what only containers can; needs a container engine, or root`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

const cache =
  process.env['CONTAINER_TEST_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'model-project-service');

const engine = await containerEngine(join(cache, 'engine'));
if (engine === undefined) {
  process.stderr.write(
    'NOTHING WAS TESTED: there is no container engine (`docker version` fails, and none could be started: that takes root and dockerd).\n',
  );
  process.exit(0);
}
if (engine.host !== undefined) process.env['DOCKER_HOST'] = engine.host;
let status: number | null = 1;
try {
  const hasRegistry = await buildJobImage(cache);
  const lambda = hasRegistry ? undefined : await standInLambdaBase(cache, process.versions.node);
  const sam = await samFolder(cache);
  const env = {
    ...process.env,
    PATH: [...(sam === undefined ? [] : [sam]), process.env['PATH']].join(':'),
    ...(lambda !== undefined && { LAMBDA_IMAGE: lambda }),
  };
  const config = join(import.meta.dirname, 'vitest.config.ts');
  const args = ['run', '--config', config, ...process.argv.slice(2)];
  status = spawnSync('vitest', args, { stdio: 'inherit', env }).status;
} finally {
  await engine.close();
}
process.exit(status ?? 1);
