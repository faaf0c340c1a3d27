// The program of every process that a proof kills: a function of the service, or the container of a job.
import './injection/inject.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { handler as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { handler as container } from '../../../functions/jobs/train.job.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import type { NamedQuestion } from './kill/course.ts';
import { archivePass } from './world/archive-pass.ts';
import { ask, type Question } from './world/ask.ts';
import { copyingJob } from './world/copying-engine.ts';
import { endpoints } from './world/endpoints.ts';
import { pass } from './world/pass.ts';
import { openService } from './world/service.ts';

/** What a process does, by its first argument; the second one is what it is given, as JSON. */
async function act(role: string, given: string): Promise<number> {
  // biome-ignore lint/suspicious/noExplicitAny: each role knows what it was given
  const value: any = JSON.parse(given);
  const environment = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
  switch (role) {
    case 'container':
      return environment['STRATEGY_ID'] === undefined ? container(process.env) : copyingJob(process.env);
    case 'create':
    case 'cancel':
    case 'request': {
      const { endpoint, question } = value as NamedQuestion;
      const { status } = await ask(endpoints[endpoint], environment, question);
      return status < 300 ? 0 : 1;
    }
    case 'event':
      await jobStateChanged(value);
      return 0;
    case 'pass':
      await pass(openService(environment), value.seconds);
      return 0;
    case 'archives':
      await archivePass(openService(environment));
      return 0;
    case 'delete': {
      const { status } = await ask(deleteProject, environment, value as Question);
      if (status >= 300) return 1;
      const service = openService(environment);
      await pass(service);
      // Containers take their time to end; the second pass removes what they wrote.
      await sleep(value.pause);
      await pass(service);
      return 0;
    }
    default:
      throw new Error(`there is no role ${role}`);
  }
}

const [, , role = '', given = '{}'] = process.argv;
process.exit(await act(role, given));
