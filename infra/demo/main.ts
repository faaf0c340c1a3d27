import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '../../shared/client/client.ts';
import { CommandError } from '../command/command-error.ts';
import { runMain } from '../command/run-main.ts';
import { DemoExperiment } from './demo-experiment.ts';
import { type DemoOptions, readDemoOptions } from './demo-options.ts';
import { configId, ensureDemoProject } from './demo-project.ts';
import { reportFailure, reportSuccess } from './demo-report.ts';
import { startDemoService } from './demo-service.ts';
import { followExperiment } from './follow-experiment.ts';
import { optimizeDigits } from './optimize-digits.ts';
import { recordMany } from './record-many.ts';
import { Screen } from './screen.ts';
import { pathOf, ServiceClient } from './service-client.ts';

const sourceFolder = fileURLToPath(new URL('../../test/examples/digits', import.meta.url));
const remoteNodes = 2;

/**
 * The whole main job, through the public interface alone. Returns whether the training succeeded; what `started` holds
 * ends a training that is no longer awaited.
 */
async function trainDigits(
  client: ServiceClient,
  { isRemote, dataFolder }: DemoOptions,
  screen: Screen,
  started: AsyncDisposableStack,
): Promise<boolean> {
  screen.heading('Preparing');
  const project_id = await ensureDemoProject(client, sourceFolder, (step, what) => screen.fact(step, what));
  screen.heading(isRemote ? `Training on ${remoteNodes} nodes` : 'Training');
  const project = pathOf('projects', project_id);
  const begun = isRemote
    ? await client.json(DemoExperiment, 'POST', `${project}/train-remote`, {
        query: { config: configId, nodes: String(remoteNodes) },
      })
    : await client.json(DemoExperiment, 'POST', `${project}/train`, { query: { config: configId } });
  let isWatched = true;
  const cancel = `${project}${pathOf('experiments', begun.experiment_id, 'cancel')}`;
  started.defer(async () => {
    if (isWatched) await client.send('POST', cancel).catch(() => undefined);
  });
  const experiment = await followExperiment(client, project_id, begun, screen);
  isWatched = false;
  const folder = join(dataFolder, 'results', experiment.experiment_id);
  const result = { client, screen, project_id, experiment, folder };
  if (experiment.status !== 'SUCCEEDED') {
    await reportFailure(result);
    return false;
  }
  await reportSuccess(result);
  return optimizeDigits({ client, screen, experiment_id: experiment.experiment_id, folder });
}

/** Fill a project to look at. The service must go on running, so this is for one that was started before. */
async function recordInvented(url: string, token: string, count: number, screen: Screen): Promise<boolean> {
  screen.heading(`Recording ${count.toLocaleString('en')} experiments`);
  const { project_id, seconds } = await recordMany(new Client({ url, token }), count, (done) =>
    screen.fact('recorded', done.toLocaleString('en')),
  );
  screen.fact('seconds', seconds.toFixed(1));
  screen.fact('look at', `${url}/console#/projects/${project_id}`);
  return true;
}

async function demo(options: DemoOptions, screen: Screen): Promise<boolean> {
  await using started = new AsyncDisposableStack();
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(new CommandError('Interrupted; the training is cancelled.'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  });
  const run = async () => {
    let service = options.service;
    if (service === undefined) {
      screen.line('Starting the service…');
      const own = await startDemoService(options.dataFolder, process.env);
      started.defer(() => own.stop());
      service = own;
    }
    screen.line(`Service at ${service.url}`);
    const client = await ServiceClient.signIn(service.url, service.credentials);
    if (options.many !== undefined) return recordInvented(service.url, client.token, options.many, screen);
    return trainDigits(client, options, screen, started);
  };
  return await Promise.race([run(), interrupted]);
}

async function main(): Promise<number> {
  const screen = new Screen(process.stdout, process.env);
  const options = readDemoOptions(process.argv.slice(2), process.env);
  // The next line, also an error, stands apart from the progress.
  const hasSucceeded = await demo(options, screen).finally(() => screen.line());
  if (hasSucceeded) screen.good('The demo succeeded.');
  else screen.bad('The demo did not succeed.');
  return hasSucceeded ? 0 : 1;
}

await runMain(main);
