import { join } from 'node:path';
import type { Client } from '../../../shared/client/client.ts';
import { consoleLink, consoleOf } from '../../../shared/client/console-link.ts';
import { CommandError } from '../../command/command-error.ts';
import { mpsSession } from '../../command/mps-session.ts';
import { runMain } from '../../command/run-main.ts';
import { type DemoOptions, readDemoOptions } from './demo-options.ts';
import { DemoExperiment, showResults } from './demo-report.ts';
import { signIn, startDemoService } from './demo-service.ts';
import { optimizeDigits } from './optimize-digits.ts';
import { recordMany } from './record-many.ts';
import { Screen } from './screen.ts';
import { TypedCommand } from './typed-command.ts';

async function main(): Promise<number> {
  const screen = new Screen(process.stdout, process.env);
  const options = readDemoOptions(process.argv.slice(2), process.env);
  // Separate the next line, which may be an error, from the progress.
  const hasSucceeded = await demo(options, screen).finally(() => screen.line());
  if (hasSucceeded) screen.good('The demo succeeded.');
  else screen.bad('The demo did not succeed.');
  return hasSucceeded ? 0 : 1;
}

async function demo(options: DemoOptions, screen: Screen): Promise<boolean> {
  await using started = new AsyncDisposableStack();
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(new CommandError('Interrupted; the training is cancelled.'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  });
  const run = async () => {
    const { client, token } = await session(options, screen, started);
    screen.line(`Service at ${client.url}`);
    if (options.many !== undefined) {
      const startAgain =
        options.service === undefined ? `npm start -- --data ${options.dataFolder}` : undefined;
      return recordInvented(client, options.many, screen, startAgain);
    }
    const mps = new TypedCommand(screen, { url: client.url, token }, started);
    return trainDigits(client, mps, options, screen, started);
  };
  return await Promise.race([run(), interrupted]);
}

/** Sign in to the demo's service. `started` stops a service that the demo starts. */
async function session(
  { service, dataFolder }: DemoOptions,
  screen: Screen,
  started: AsyncDisposableStack,
): Promise<{ client: Client; token: string }> {
  if (service === undefined) {
    screen.line('Starting the service…');
    const own = await startDemoService(dataFolder, process.env);
    started.defer(() => own.stop());
    return signIn(own.url, own.credentials);
  }
  const { url, credentials } = service;
  return url === undefined || credentials === undefined
    ? mpsSession(process.env, url)
    : signIn(url, credentials);
}

/**
 * Fill a project with invented experiments. A service that the demo started ends with it, and `startAgain` is the
 * command that restarts it.
 */
async function recordInvented(
  client: Client,
  count: number,
  screen: Screen,
  startAgain: string | undefined,
): Promise<boolean> {
  screen.heading(`Recording ${count.toLocaleString('en')} experiments`);
  const begun = performance.now();
  const { project_id, found, seconds } = await recordMany(client, count, {
    onProgress: (done) => {
      const passed = (performance.now() - begun) / 1000;
      screen.progress(passed, 'many', `${done.toLocaleString('en')} of ${count.toLocaleString('en')}`);
    },
  });
  if (found > 0) screen.fact('were there', found.toLocaleString('en'));
  screen.fact('recorded', `${(count - found).toLocaleString('en')} in ${seconds.toFixed(0)} s`);
  if (startAgain !== undefined) screen.fact('start it by', startAgain);
  const service = startAgain === undefined ? client.url : '';
  screen.fact('look at', consoleLink(consoleOf(service), ['projects', project_id]));
  return true;
}

const projectName = 'Handwritten digits (demo)';

const remoteNodes = 2;

/**
 * Run the whole training with the command `mps`, as a person types it. Return whether it succeeded. `started` ends
 * a training that is no longer awaited.
 */
async function trainDigits(
  client: Client,
  mps: TypedCommand,
  { isRemote, dataFolder }: DemoOptions,
  screen: Screen,
  started: AsyncDisposableStack,
): Promise<boolean> {
  const project = ['-p', projectName];
  screen.heading(isRemote ? `Training on ${remoteNodes} nodes` : 'Training');
  let isWatched = true;
  started.defer(async () => {
    if (isWatched) await mps.run('cancel', 'latest', ...project);
  });
  const nodes = isRemote ? ['--nodes', String(remoteNodes)] : [];
  const code = await mps.run('run', ...project, ...nodes, '--', 'python', 'train.py', '--config', '{config}');
  isWatched = false;
  if (code !== 0) return false;
  const experiment = DemoExperiment.parse(await mps.json('show', 'latest', ...project));
  const folder = join(dataFolder, 'results', experiment.experiment_id);
  await showResults({ client, mps, screen, project, experiment, folder });
  return optimizeDigits({ mps, screen, project, experiment_id: experiment.experiment_id, folder });
}

await runMain(main);
