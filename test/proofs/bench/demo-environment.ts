import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signIn, startDemoService } from '../../../infra/tools/demo/demo-service.ts';
import { ensureDemoProject } from './demo-project.ts';
import { secondsToEnvironment } from './environment-seconds.ts';
import { figure } from './figure.ts';
import type { Group } from './group.ts';
import { setAside } from './set-aside.ts';
import { TrainingProject } from './training-project.ts';

const maxSeconds = 2;
const demoSource = fileURLToPath(new URL('../../examples/digits', import.meta.url));

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The environment of the demo, which has the size of a real one. It is built only when asked for. */
export const demoEnvironment: Group = {
  name: 'demo-environment',
  title: 'Environment of the demo, from the cache',

  async measure({ demoFolder, withDemo, started, say }) {
    if (!withDemo && !(await exists(demoFolder))) {
      throw new Error(`there is none in ${demoFolder}; run npm run demo, or this with --with-demo`);
    }
    const service = await startDemoService(demoFolder, { ...process.env, DOWNLOADS_IN_BUCKET: 'yes' });
    started.defer(() => service.stop());
    const session = await signIn(service.url, service.credentials);
    const id = await ensureDemoProject(session, demoSource, () => {});
    const project = new TrainingProject(session.client, id);
    say('training the demo, so that its environment is there');
    await project.succeeded(await project.train());
    say('training with the environment of this host');
    const here = await secondsToEnvironment(project, 'hit');
    const found = [figure('Cached on this host', here, 's', { atMost: maxSeconds })];
    // Jobs may keep their environments elsewhere, where they cannot pass to the data folder.
    const environments = join(demoFolder, 'environments', id);
    if (!(await exists(environments))) return found;
    await setAside(environments, demoFolder, started);
    say('training with the environment of the bucket');
    const fetched = await secondsToEnvironment(project, 'hit');
    return [...found, figure('Fetched from the bucket and unpacked, as on a new host', fetched, 's')];
  },
};
