/** The program of every job's container: runs the job that its first argument names and exits with its code. */
const jobs: Readonly<Record<string, () => Promise<{ handler(environment: NodeJS.ProcessEnv): Promise<number> }>>> = {
  train: () => import('../../functions/jobs/train.job.ts'),
};

const name = process.argv[2] ?? '';
const load = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
if (load === undefined) {
  console.error(`There is no job ${JSON.stringify(name)}; there are ${Object.keys(jobs).join(', ')}.`);
  process.exit(2);
}
const { handler } = await load();
// Sockets that are kept alive must not keep a finished container from ending.
process.exit(await handler(process.env));
