import { join } from 'node:path';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { encodeCursor } from '../../../shared/http/definition/cursor.ts';
import { type Figure, type FigureOptions, figure } from './figure.ts';
import { filledProject, filledSizes } from './filled-project.ts';
import type { Bench, Group } from './group.ts';
import { insertProjects } from './insert-projects.ts';
import { compare, type Target, warmUp } from './load.ts';
import { startService } from './service-process.ts';

const maxPage = { atMost: 1.3 };
const blocks = { turns: 4, seconds: 1 };
const warmSeconds = 1.5;
const limit = '100';

/** Requests to a service of a certain size. */
interface Sized {
  page: Target;
  /** From the middle of the list. */
  middlePage: Target;
  project: Target;
  /** GET of a new project with so many waiting trainings, trials and messages. */
  filled(size: number): Promise<Target>;
}

/** A service on an engine of its own that holds so many projects. */
async function prepare({ folder, started, say }: Bench, size: number): Promise<Sized> {
  const engine = await startDynamoDb(join(folder, `${size}.db`));
  started.defer(() => engine.close());
  const service = await startService(join(folder, `${size}`), { DYNAMODB_ENDPOINT: engine.url });
  started.defer(() => service.stop());
  const session = await service.signIn();
  const { user_id, token } = session;
  say(`inserting ${size} projects`);
  const ids = await insertProjects(engine.url, user_id, size);
  const id = ids[ids.length >> 1] ?? '';
  const get = (path: string): Target => ({
    method: 'GET',
    url: `${service.url}${path}`,
    headers: { Authorization: `Bearer ${token}` },
  });
  const cursor = encodeCursor({ name: 'listProjects', path: {}, query: {} }, id);
  return {
    page: get(`/projects/?limit=${limit}`),
    middlePage: get(`/projects/?limit=${limit}&cursor=${cursor}`),
    project: get(`/projects/${id}`),
    filled: async (count) => get(`/projects/${await filledProject(session, engine.url, count)}`),
  };
}

/** Whether anything becomes slower as projects become more: services of three sizes, side by side. */
export const growth: Group = {
  name: 'growth',
  title: 'Growth: 10, 1,000 and 100,000 projects',

  async measure(bench) {
    const few = await prepare(bench, 10);
    const some = await prepare(bench, 1_000);
    const many = await prepare(bench, bench.small ? 10_000 : 100_000);
    const found: Figure[] = [];
    const row = async (what: string, first: Target, second: Target, options: FigureOptions = {}) => {
      bench.say(what);
      await warmUp({ first, second }, warmSeconds);
      const { ratio, first: one, second: other } = await compare({ first, second }, 1, blocks);
      const remark = `p50 ${one.p50.toFixed(2)} ms : ${other.p50.toFixed(2)} ms`;
      found.push(figure(what, ratio.p50, '×', { ...options, remark }));
    };
    await row('page of 100, out of 100,000 over out of 1,000', many.page, some.page, maxPage);
    await row(
      'page of 100 from the middle, of 100,000 over of 1,000',
      many.middlePage,
      some.middlePage,
      maxPage,
    );
    await row('page of 100 out of 1,000 over all 10 out of 10', some.page, few.page);
    await row('GET one project, of 100,000 over of 1,000', many.project, some.project);
    const [filled, nearlyEmpty] = [await few.filled(filledSizes.many), await few.filled(filledSizes.few)];
    const with1000 = 'GET one project with 1,000 waiting trainings, trials and messages, over 10';
    await row(with1000, filled, nearlyEmpty, { atMost: 1.1 });
    return found;
  },
};
