import { workerTask } from '../../../shared/process/worker-task.ts';

/** Task that a thread can find in this module; it does as it is told. */
export const odd = workerTask({
  module: import.meta.url,
  name: 'odd',
  run(input: { do: 'echo' | 'spin' | 'wait' | 'fill' | 'throw' | 'exit' | 'count' }): unknown {
    if (input.do === 'spin') for (;;);
    if (input.do === 'wait') return new Promise(() => {});
    if (input.do === 'fill') {
      const all: number[][] = [];
      for (;;) all.push(Array.from({ length: 1e6 }, (_, n) => n));
    }
    if (input.do === 'throw') throw new Error('odd as told');
    if (input.do === 'exit') process.exit(3);
    if (input.do === 'count') {
      calls += 1;
      return calls;
    }
    return { ...input, credentials: process.env['AWS_SECRET_ACCESS_KEY'] };
  },
  keyOf: (input) => JSON.stringify(input),
  sizeOf: () => 10,
  tooHeavy: 'Ask for less.',
});

let calls = 0;
