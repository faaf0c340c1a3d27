import { pathToFileURL } from 'node:url';
import { thisHost } from '../../../shared/host/this-host.ts';

/** The exports of a job's bundle. The handler receives the variables and returns the exit code. */
interface JobModule {
  handler(variables: NodeJS.ProcessEnv): Promise<number>;
}

function isJobModule(module: unknown): module is JobModule {
  return typeof module === 'object' && module !== null && 'handler' in module;
}

// The job image's entry point and the local Batch server both run `node run-job.js functions/jobs/train.job.js`.
thisHost.closeInheritedDescriptors();
thisHost.offerSupervisorToOomKiller();
const [, , file = ''] = process.argv;
const module: unknown = await import(pathToFileURL(file).href);
if (!isJobModule(module)) throw new Error(`${file} must export handler`);
// Idle connections to the emulators must not keep the process alive.
process.exit(await module.handler(process.env));
