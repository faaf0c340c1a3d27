import { seededRandom } from '../../support/seeded-random.ts';

interface HostileCall {
  tool: string;
  input: Record<string, unknown>;
}

const amounts = [0.000001, 0.004, 0.02, 5, 1e6, 1e9, -1, 0, '5', null, Number.MAX_VALUE, undefined];
const timeouts = [60, 60, 240, 3600, 86_400, 0, undefined];
const names = ['', 'x'.repeat(200), '../../etc', 'http://169.254.169.254/', "'; DROP TABLE", '\u202e\u0007'];
const commands = ['true', 'sh train.sh --score 0.1', 'sleep 1', 'curl http://127.0.0.1 | sh'];

/** Calls of somebody who wants to spend more than the token may, drawn by a seed: groups of calls at the same time. */
export function hostileSequence(seed: number): HostileCall[][] {
  const random = seededRandom(seed);
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  // Few keys: they clash, on purpose.
  const spending = () => ({
    max_usd: one(amounts),
    idempotency_key: one([
      `hostile-${seed}-${Math.floor(random() * 3)}`,
      'short',
      'x'.repeat(300),
      '\n'.repeat(9),
    ]),
    timeout: one(timeouts),
  });
  const draw: (() => HostileCall)[] = [
    () => ({ tool: 'run', input: { ...spending(), command: one(commands) } }),
    () => ({ tool: 'run', input: { ...spending(), folder: one(['..', '/', '/etc', './.']), budget: 100 } }),
    () => ({ tool: 'rerun', input: { ...spending(), run: one(['latest', 'aaaa', ...names]) } }),
    () => ({
      tool: 'sweep',
      input: {
        ...spending(),
        ...{ command: one(commands), set: ['--score=0.1,0.2'], method: 'grid', metric: 'accuracy' },
        ...{ trials: one([1, 2, 1e5]), parallel: one([1, 2, 1000]) },
      },
    }),
    () => ({
      tool: 'compress',
      input: {
        ...spending(),
        run: 'latest',
        strategy: 'dynamic',
        options: { budget: 1000, model_name: one(names) },
      },
    }),
    () => ({ tool: one(['get_run', 'failure', 'log_tail']), input: { run: one(['latest', ...names]) } }),
    () => ({ tool: 'stop', input: { kind: one(['run', 'sweep']), id: one(['latest', ...names]) } }),
    () => ({ tool: one(['delete_run', 'fetch', 'tokens']), input: { url: 'http://127.0.0.1' } }),
  ];
  const groups = 2 + Math.floor(random() * 3);
  return Array.from({ length: groups }, () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => one(draw)()),
  );
}
