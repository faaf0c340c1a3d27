import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CiReport } from '../../../../cli/ci/report.ts';
import { type Comment, type Comments, keepComment } from '../../../../cli/ci/sticky-comment.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const report = (push: number, more: Partial<CiReport> = {}): CiReport => ({
  ...{
    report_version: 1,
    verdict: 'passed',
    file: '.mps/ci.yaml',
    project: 'digits',
    time: 1_800_000_000 + push,
  },
  commit: push.toString(16).padStart(40, '0'),
  ...{ head: { name: `push ${push}`, link: null }, base: null, gates: [], values: [], curves: [], notes: [] },
  ...more,
});

/** A provider whose requests take virtual time: 50 to 400 ms each. */
class VirtualRequest {
  comments: Comment[] = [];
  head = '';
  readonly #random: () => number;
  readonly #sleepers: { at: number; wake: () => void }[] = [];
  #now = 0;
  #last = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  sleep = (milliseconds: number): Promise<void> =>
    new Promise((wake) => this.#sleepers.push({ at: this.#now + milliseconds, wake }));

  /** The comments for one check. A write takes effect in the middle of its request. */
  port(): Comments {
    const around = async <T>(act: () => T): Promise<T> => {
      await this.sleep(25 + this.#random() * 175);
      const result = act();
      await this.sleep(25 + this.#random() * 175);
      return result;
    };
    return {
      list: () => around(() => structuredClone(this.comments)),
      head: () => around(() => this.head),
      create: (body) =>
        around(() => {
          this.#last += 1;
          this.comments.push({ id: this.#last, body });
        }),
      update: (id, body) =>
        around(() => {
          const found = this.comments.find((one) => one.id === id);
          if (found !== undefined) found.body = body;
          return found !== undefined;
        }),
      remove: (id) =>
        around(() => {
          this.comments = this.comments.filter((one) => one.id !== id);
        }),
    };
  }

  /** Run everything that sleeps, in the order of time. */
  async run(): Promise<void> {
    for (;;) {
      for (let count = 0; count < 5; count += 1) await turn();
      const next = this.#sleepers.sort((one, other) => one.at - other.at).shift();
      if (next === undefined) return;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
  }
}

test('100 pushes with 3 checks at once leave one comment, of the last commit', async () => {
  const request = new VirtualRequest(5);
  const random = seededRandom(6);
  const seconds: number[] = [];
  const check = async (push: number) => {
    const port = request.port();
    await request.sleep(random() * 600);
    const pause = () => request.sleep(2_000);
    await keepComment(port, report(push), { run: `${1000 + push}.1`, pause });
  };
  for (let first = 0; first < 99; first += 3) {
    const pushes = [first, first + 1, first + 2];
    request.head = report(first + 2).commit ?? '';
    const checks = Promise.all(pushes.map(check));
    await request.run();
    await checks;
    seconds.push(request.comments.length);
    expect(request.comments[0]?.body).toContain(`commit=${report(first + 2).commit} `);
  }

  expect(seconds.filter((count) => count !== 1)).toEqual([]);
  expect(request.comments[0]?.body).toContain('Earlier verdicts (20)');
});

test('a repeated check of an old commit changes nothing; one of the same commit counts', async () => {
  const comments: Comment[] = [];
  const port: Comments = {
    list: async () => structuredClone(comments),
    head: async () => undefined,
    create: async (body) => void comments.push({ id: comments.length + 1, body }),
    update: async (id, body) => Boolean(Object.assign(comments.find((one) => one.id === id) ?? {}, { body })),
    remove: async () => {},
  };
  const keep = (push: number, run: string, verdict: CiReport['verdict'] = 'passed') =>
    keepComment(port, report(push, { verdict }), { run, pause: async () => {} });

  expect(await keep(2, '2.1')).toBe(true);
  const before = comments[0]?.body;
  expect(await keep(1, '1.2', 'failed')).toBe(false);
  expect(comments[0]?.body).toBe(before);
  expect(await keep(2, '2.2', 'error')).toBe(true);
  expect(comments).toHaveLength(1);
  expect(comments[0]?.body).toContain('run=2.2 verdict=error');
  // Another file has a comment of its own, and what people write is left alone.
  comments.push({ id: 9, body: 'see <!-- mps:ci project= file= --> above' });
  await keepComment(port, report(3, { file: 'other--file.yaml' }), { run: '3.1', pause: async () => {} });
  expect(comments).toHaveLength(3);
  expect(comments[2]?.body).not.toMatch(/<!--[^>]*--[^>]*-->/);
});

test.each([
  { what: 'without a path', more: { file: '' } },
  { what: 'of halves of characters', more: { file: '\ud800', project: '\udc00-->' } },
  {
    what: 'as long as it may be',
    more: {
      notes: Array(100).fill('@'.repeat(100)),
      ...{ file: '長'.repeat(2000), project: '-'.repeat(2000) },
    },
  },
])("a stranger's report $what has one comment that the provider takes", async ({ more }) => {
  const bodies: string[] = [];
  const port: Comments = {
    list: async () => bodies.map((body, id) => ({ id, body })),
    head: async () => undefined,
    create: async (body) => void bodies.push(body),
    update: async (id, body) => bodies.splice(id, 1, body).length > 0,
    remove: async () => {},
  };
  for (let push = 0; push < 25; push += 1)
    await keepComment(port, report(push, more), { run: `${push}.1`, pause: async () => {} });

  expect(bodies).toHaveLength(1);
  expect(Buffer.byteLength(bodies[0] ?? '')).toBeLessThanOrEqual(65_536);
  expect(bodies[0]?.isWellFormed()).toBe(true);
});

test('a report that just fits leaves room for the verdicts before it', async () => {
  const lengths: number[] = [];
  for (const notes of [94, 95, 96, 97]) {
    const bodies: string[] = [];
    const port: Comments = {
      list: async () => bodies.map((body, id) => ({ id, body })),
      head: async () => undefined,
      create: async (body) => void bodies.push(body),
      update: async (id, body) => bodies.splice(id, 1, body).length > 0,
      remove: async () => {},
    };
    for (let push = 0; push < 22; push += 1)
      await keepComment(port, report(push, { notes: Array(notes).fill('@'.repeat(54)) }), {
        ...{ run: `${push}.1`, pause: async () => {} },
      });
    lengths.push(Buffer.byteLength(bodies[0] ?? ''));
  }
  expect(Math.max(...lengths)).toBeLessThanOrEqual(65_000);
});
