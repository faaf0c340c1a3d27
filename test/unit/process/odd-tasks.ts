import { workerTask } from '../../../shared/process/worker-task.ts';

/** Task that a thread can find in this module; it does as it is told. */
export const odd = workerTask({
  module: import.meta.url,
  name: 'odd',
  run(input: { do: 'echo' | 'spin' | 'wait' | 'fill' | 'throw' | 'exit' | 'count' }): unknown {
    if (input.do === 'spin') for (;;);
    if (input.do === 'wait') return new Promise(() => {});
    if (input.do === 'fill') {
      // Fast, so that a busy machine too comes to the end of the memory before that of the time.
      const all: number[][] = [];
      for (;;) all.push(new Array<number>(1e6).fill(0));
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
